# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""containerd's configuration with the gate's guard in front of the OCI runtime (2.0 and later)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

DROP_IN = "/etc/containerd/conf.d/50-drawbridge-guard.toml"
GUARD = "/usr/local/libexec/drawbridge/runc-guard"
NEXT = "/etc/drawbridge/gate/runtime"
"""One line: the runtime that the guard becomes."""
RUNC = "runc"
"""containerd's name for the runtime of pods without a RuntimeClass."""
TEXT = """\
# Written by Drawbridge's role slurm_gate, which overwrites changes.
version = 3

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
  BinaryName = "{binary}"
"""
OPTIONS = re.compile(
    r"^\s*\[plugins\.['\"]io\.containerd\.cri\.v1\.runtime['\"]\.containerd\.runtimes\.runc\.options\]$"
)
KEY = re.compile(r"^\s*(BinaryName|default_runtime_name) = ['\"](.*)['\"]$")


RELEASE = re.compile(r"^runc version (\d+)\.(\d+)\.(\d+)(-rc\S*)?", re.MULTILINE)
FIXED = {3: 6, 4: 3, 5: 0}
"""The first release of 1.x that follows no link at /dev out of an image (CVE-2026-41579)."""


@dataclass(frozen=True)
class Effective:
    """What containerd would run, by its own account."""

    default: str
    """Runtime of pods without a RuntimeClass."""
    binary: str
    """Program of RUNC; empty for containerd's own choice."""


def drop_in(binary: str) -> str:
    """The file that names a runtime's program."""
    return TEXT.format(binary=binary)


def effective(dump: str) -> Effective:
    """Read `containerd config dump`. Raises ValueError if it does not say which runtime is the default."""
    found, section = {}, False
    for line in dump.splitlines():
        if line.lstrip().startswith("["):
            section = bool(OPTIONS.match(line))
        elif (key := KEY.match(line)) and (section or key[1] != "BinaryName"):
            found[key[1]] = key[2]
    if "default_runtime_name" not in found:
        raise ValueError("containerd's configuration has no default_runtime_name")
    return Effective(found["default_runtime_name"], found.get("BinaryName", ""))


def stays_in_images(version: str) -> bool:
    """Whether `runc --version` shows a release with that fix. Distributions may have it in older ones, unseen here."""
    found = RELEASE.search(version)
    if not found or found[4]:
        return False
    major, minor, patch = (int(found[at]) for at in (1, 2, 3))
    return major > 1 or minor > max(FIXED) or (minor in FIXED and patch >= FIXED[minor])


def doubts(unsquashed: Sequence[str], version: str) -> list[str]:
    """Why a node without the guard is open to images, in words."""
    found = [f"nothing shows that {', '.join(unsquashed)} squashes root"] if unsquashed else []
    if not stays_in_images(version):
        found.append(f"{version.partition(chr(10))[0] or 'the runtime'} may lead root out of them")
    return found
