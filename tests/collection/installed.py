# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The collection as a user gets it: built from what git tracks, installed into an empty place, used from elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
NAME = "drawbridge.drawbridge"
TIMEOUT_S = 900


@dataclass(frozen=True)
class Completed:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """All of it, for the message of a failed test."""
        return f"rc {self.code}\n{self.out}\n{self.err}"


def bare_environment(home: Path) -> dict[str, str]:
    """An environment in which Ansible finds no settings and no collections but those that the test names."""
    home.mkdir()
    settings = home / "ansible.cfg"
    settings.touch()
    foreign = ("ANSIBLE_", "LAB_", "PYTHON")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {
        **environment,
        "HOME": str(home),
        "ANSIBLE_HOME": str(home / ".ansible"),
        "ANSIBLE_CONFIG": str(settings),
        "ANSIBLE_NOCOLOR": "1",
        "PATH": f"{BIN}:{os.environ['PATH']}",
    }


def run(argv: list[str], cwd: Path, environment: dict[str, str]) -> Completed:
    """Run a command to its end."""
    done = subprocess.run(
        [str(BIN / argv[0]), *argv[1:]],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return Completed(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True)
class Site:
    """A directory with nothing in it, and the installed collection somewhere else."""

    export: Path
    """What git tracks, links kept."""
    installed: Path
    """ansible_collections/drawbridge/drawbridge of the place."""
    cwd: Path
    environment: dict[str, str]

    def ansible(self, *argv: str) -> Completed:
        """Run one of Ansible's commands from the empty directory."""
        return run(list(argv), self.cwd, self.environment)


def export(target: Path) -> None:
    """Copy what git tracks, as it lies in the work tree: new content counts before it is committed."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy, follow_symlinks=False)


def install(root: Path) -> Site:
    """Export, build and install below `root`, without a network: all dependencies are in the controller's packages."""
    source, place, cwd = root / "export", root / "place", root / "empty"
    cwd.mkdir()
    export(source)
    environment = bare_environment(root / "home") | {"ANSIBLE_COLLECTIONS_PATH": str(place)}
    built = run(["ansible-galaxy", "collection", "build", "--output-path", str(root)], source, environment)
    assert built.code == 0, built.text
    [artifact] = root.glob("*.tar.gz")
    argv = ["ansible-galaxy", "collection", "install", "--offline", "-p", str(place), str(artifact)]
    done = run(argv, cwd, environment)
    assert done.code == 0, done.text
    return Site(source, place / "ansible_collections/drawbridge/drawbridge", cwd, environment)
