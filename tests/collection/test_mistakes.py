# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Mistakes of people at the start: mistakes.yml is the table, and its head explains a row.

Here run those that concern Ansible's own start, end to end, and those of files alone, by the check's own action.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play import Play
from ansible.template import Templar
from ansible.vars.manager import VariableManager
from ansible_collections.drawbridge.drawbridge.plugins.action.cluster_intent import ActionModule
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.variable_files import file_faults, variable_files

from tests.collection.installed import ROOT, Completed, bare_environment, run
from tests.collection.recorder import Recorder

Row = dict[str, Any]
ROWS: dict[str, Row] = yaml.load(Path(__file__).with_name("mistakes.yml").read_text(), yaml.CSafeLoader)
OF_FILES = [name for name, row in ROWS.items() if not {*row} - {"do", "of", "says", "because", "code"}]
START = [name for name, row in ROWS.items() if row.get("start")]


def made(row: Row, folder: Path) -> Path:
    """The inventory of a row."""
    site = folder / "site"
    shutil.copytree(ROOT / "inventories" / row.get("of", "example-pilot"), site)
    for name, content in row.get("do", {}).items():
        path = (site / ".." / name[3:]) if name.startswith("../") else site / name
        if content is None:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        elif isinstance(content, list):
            before, after = content
            assert before in path.read_text()
            path.write_text(path.read_text().replace(before, after, 1))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
    return site


def told(row: Row) -> list[str]:
    """The wanted parts of the output."""
    says = row.get("says", [])
    return [says] if isinstance(says, str) else says


def lacking(row: Row, text: str) -> list[str]:
    """The wanted parts that a text has not. Releases of ansible-core fold lines differently."""
    plain = " ".join(text.split())
    return [part for part in told(row) if part.strip() not in plain]


def started(row: Row, recorder: Recorder, folder: Path) -> Completed:
    """Run ansible-playbook as the person did."""
    site = made(row, folder)

    def filled(text: str) -> str:
        return text.replace("{site}", str(site)).replace("{root}", str(ROOT))

    if "ssh" in row:
        ssh = Path(recorder.environment["ANSIBLE_SSH_EXECUTABLE"])
        ssh.write_text(f"{ssh.read_text().rpartition('exit')[0]}{row['ssh']}\n")
    environment = bare_environment(folder / "home") | recorder.environment
    environment |= {"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "LAB_STATE": str(folder / "lab")}
    environment |= {name: filled(value) for name, value in row.get("env", {}).items()}
    play = row.get("play", "check")
    playbook = filled(play) if "/" in play else f"playbooks/{play}.yml"
    words = ["-i", filled(row.get("i", "{site}")), playbook, *map(filled, shlex.split(row.get("run", "")))]
    working = Path(filled(row.get("in", "{root}")))
    return run(["ansible-playbook", *words], working, {name: value for name, value in environment.items() if value})


def check_end_to_end(row: Row, recorder: Recorder, folder: Path) -> None:
    done = started(row, recorder, folder)
    assert done.code == row.get("code", 2), done.text
    assert lacking(row, done.out + done.err) == [], done.text
    assert "Traceback" not in done.out + done.err
    assert bool(recorder.asked) == row.get("contacts", False), recorder.asked


def faults(site: Path) -> list[str]:
    """What the check's action refuses, in this process. A file that Ansible can't read ends a run before it."""
    loader: Any = DataLoader()
    if unread := [*file_faults(loader, variable_files([site], []))]:
        return [str(fault) for fault in unread]
    inventory = InventoryManager(loader, sources=[str(site)])
    manager: Any = VariableManager(loader, inventory)
    play = Play.load({"name": "Check", "hosts": "all:localhost"}, variable_manager=manager, loader=loader)
    host = (inventory.get_hosts("all") or [inventory.localhost or inventory.get_host("localhost")])[0]
    variables = manager.get_vars(play=play, host=host)
    objects = {"get_variable_manager": lambda: manager, "get_play": lambda: play}
    task: Any = SimpleNamespace(args={}, async_val=0, check_mode=False, action="cluster_intent", **objects)
    nothing: Any = SimpleNamespace(_shell=SimpleNamespace(tmpdir=None))
    action = ActionModule(task, nothing, nothing, loader, Templar(loader, variables), nothing)
    return action.run(None, variables).get("faults", [])


def test_the_table_is_whole() -> None:
    """A person who gets exit code 0 for a mistake needs a reason, and every other mistake a sentence."""
    assert [name for name, row in ROWS.items() if not row.get("because" if row.get("code") == 0 else "says")] == []
    assert len(ROWS) >= 120


@pytest.mark.parametrize("name", OF_FILES)
def test_a_mistake_in_files(tmp_path: Path, name: str) -> None:
    row, found = ROWS[name], faults(made(ROWS[name], tmp_path))
    assert bool(found) == (row.get("code", 2) != 0), found
    assert lacking(row, "\n".join(found)) == [], found


@pytest.mark.parametrize("name", START)
def test_a_mistake_at_ansibles_start(recorder: Recorder, tmp_path: Path, name: str) -> None:
    check_end_to_end(ROWS[name], recorder, tmp_path)
