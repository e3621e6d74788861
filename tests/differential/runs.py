# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Run the playbook once as visits and once as plain tasks, and read what each run did."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.differential.table import HERE

TIMEOUT_S = 1800
VISIT = ()
PLAIN = ("--tags", "apart", "--skip-tags", "visit,refused")


@dataclass(frozen=True)
class Run:
    """What one run wrote and said."""

    tree: Mapping[str, str]
    """Texts by path below the folder of the run, and empty folders."""
    events: list[dict[str, Any]]
    text: str

    def below(self, part: str) -> dict[str, str]:
        """The files whose path has this part."""
        return {path: text for path, text in self.tree.items() if part in path}

    def of(self, play: str, module: str) -> list[dict[str, Any]]:
        """The results of a module in a play."""
        return [it for it in self.events if it["play"] == play and it["action"].rpartition(".")[2] == module]

    def said(self, play: str, module: str) -> str:
        """The messages of a module in a play."""
        return "\n".join(event["said"] for event in self.of(play, module))

    def states(self, play: str, module: str, task: str = "") -> dict[str, str]:
        """How tasks with this module ended on each host of a play: failed, ignored or done. A skipped task is done."""
        found: dict[str, str] = {}
        for event in self.of(play, module):
            if not event["task"].startswith(task):
                continue
            worse = event["state"] if event["state"] in ("failed", "ignored") else "done"
            if found.get(event["host"], "done") == "done":
                found[event["host"]] = worse
        return found


def run(folder: Path, words: tuple[str, ...], into: Path, python: Path, environment: Mapping[str, str]) -> Run:
    """Run the playbook of a folder with the Ansible beside this Python."""
    into.mkdir()
    settings = {
        "ANSIBLE_STDOUT_CALLBACK": "outcomes",
        "ANSIBLE_CALLBACK_PLUGINS": str(HERE / "callback"),
        "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_DEPRECATION_WARNINGS": "0",
        "ANSIBLE_VAULT_PASSWORD_FILE": str(folder / "vault-password"),
        # filters of sets keep no order of their own
        "PYTHONHASHSEED": "0",
        "DIFFERENTIAL_WORD": r"word \1 of the environment",
        "INTO": str(into),
    }
    argv = [str(python.parent / "ansible-playbook"), "-i", "hosts.yml", "-e", "@extra.yml", "play.yml", *words]
    done = subprocess.run(
        argv,
        cwd=folder,
        env={**environment, **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"play"')]
    return Run(tree(into), events, f"rc {done.returncode}\n{done.stdout}\n{done.stderr}")


def different(paths: Sequence[str], plain: Mapping[str, str], visit: Mapping[str, str]) -> list[str]:
    """Differences between the two trees at these paths, all of which plain Ansible must have written."""
    return [
        f"{path}: plain Ansible has {plain.get(path)!r}, a visit has {visit.get(path)!r}"
        for path in paths
        if path not in plain or plain[path] != visit.get(path)
    ]


def tree(root: Path) -> dict[str, str]:
    """The texts of all files, and the folders without files."""
    found: dict[str, str] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_file():
            mode = path.stat().st_mode & 0o7777
            found[name] = f"{mode:o} {path.read_bytes().decode(errors='backslashreplace')}"
        elif not any(path.iterdir()):
            found[name] = "a folder"
    return found
