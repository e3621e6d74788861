# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/guides/first-site.md as its readers follow it: commands in their order, and the outputs that it shows."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, STDOUT

import yaml

from tests.collection.installed import BIN, ROOT, bare_environment, export

PAGE = (ROOT / "docs/guides/first-site.md").read_text()
CHANGES = ROOT / "tests/first_site.yml"
OF_THE_LAB = ("all/lab.yml", "all/lab-slurm.yml", "nodes/kubelet.yml")
"""Variables of the lab's hosts. None of them is a consent."""
COMMAND = re.compile(r"\$ |(?=make |cp |\.venv/bin/)")
LIMIT_S = 1800
"""For one command; a hang is a finding, and must not look like a slow machine."""


@dataclass(frozen=True)
class Typed:
    """A command of the page, and the lines that the page shows below it."""

    command: str
    shown: list[str]


def steps(page: str = PAGE) -> dict[int, list[Typed]]:
    """Commands by the number of their step."""
    found: dict[int, list[Typed]] = {}
    for section in re.split(r"^## ", page, flags=re.MULTILINE):
        number = re.match(r"(\d)\. ", section)
        for line in re.findall(r"^ {4}(.+)", section, re.MULTILINE) if number else []:
            typed = found.setdefault(int(number[1]), []) if number else []
            if at := COMMAND.match(line):
                typed.append(Typed(line[at.end() :], []))
            elif not line.startswith("# yaml-language-server"):
                typed[-1].shown.extend(lines(line))
    return found


def consents(page: str = PAGE) -> list[tuple[list[str], str]]:
    """Rows of the table of consents: sentences that a run prints, and the line to add, or nothing."""
    table = page.partition("| the run says |")[2].partition("\n\n")[0]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines()[2:]]
    return [(re.findall("`(.+?)`", says), re.sub("none: .*", "", line).strip("` ")) for says, _, line in rows]


def lines(text: str) -> list[str]:
    """Lines as the page has them: Ansible fills a headline with stars."""
    return [re.sub(r"\*{3,}", "***", line.rstrip()) for line in text.splitlines()]


def same_part(printed: str, shown: Sequence[str]) -> list[str]:
    """As many lines of an output as the page shows, from the page's first one on."""
    found = lines(printed)
    start = found.index(shown[0]) if shown and shown[0] in found else 0
    return found[start : start + len(shown)]


@dataclass(frozen=True)
class Checkout:
    """The repository's files in a folder of their own, a home, and a shell."""

    folder: Path
    home: Path
    environment: Mapping[str, str]

    @property
    def inventory(self) -> Path:
        return self.folder / "inventories/mine"

    def type(self, command: str, code: int = 0) -> str:
        """Run a command as it is on the page; what a terminal would show. Fails for another exit code."""
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert done.returncode == code, f"{command}: rc {done.returncode}\n{done.stdout}"
        return done.stdout

    def describe(self) -> None:
        """Change names, addresses and numbers of the copied example: the site is two nodes of the lab."""
        for name, changes in yaml.safe_load(CHANGES.read_text()).items():
            path = self.inventory / name
            text = changes if isinstance(changes, str) else path.read_text()
            for old, new in changes.items() if isinstance(changes, dict) else ():
                assert old in text, f"{name} has no {old!r}"
                text = text.replace(old, new)
            path.write_text(text)
        for name in OF_THE_LAB:
            path = self.inventory / "group_vars" / name
            path.parent.mkdir(exist_ok=True)
            shutil.copy2(ROOT / "inventories/lab/group_vars" / name, path)


def checkout(root: Path, **environment: str) -> Checkout:
    """The files that git tracks, below a folder that has nothing else, after `make tools`."""
    folder, home = root / "drawbridge", root / "home"
    export(folder)
    (folder / ".venv").symlink_to(BIN.parent)
    bare = bare_environment(home)
    del bare["ANSIBLE_CONFIG"]
    return Checkout(folder, home, bare | environment)
