# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""containerd's configuration with the gate's guard in front of the OCI runtime (2.0 and later)."""

from __future__ import annotations

import re
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
