# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The callback as ansible-playbook runs it, on plays that have one of everything that is counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.callbacks.count import Cost, Session, Tally, charge, sessions

ROOT = Path(__file__).resolve().parents[3]
SAY: dict[str, Any] = {"ansible.builtin.debug": {"msg": "said"}}
FAIL: dict[str, Any] = {"ansible.builtin.fail": {"msg": "no"}}
CHANGE: dict[str, Any] = {"ansible.builtin.command": {"cmd": "true"}}
INVENTORY = {
    "all": {
        "vars": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable},
        "hosts": {
            "kinds": None,
            "owner": {"pick": "worker"},
            "worker": None,
            "roles": None,
            "nameless": {"ansible_host": "{{ nowhere }}"},
            "away": {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1},
        },
    }
}
KINDS = [
    SAY,
    {**SAY, "when": False},
    {"block": [FAIL], "rescue": [SAY]},
    {**SAY, "loop": [1, 2, 3], "when": "item != 2"},
    {**SAY, "loop": []},
    {**CHANGE, "loop": [1, 2], "no_log": True},
    {**FAIL, "ignore_errors": True, "loop": [1, 2]},
]
DELEGATED = [
    {**CHANGE, "delegate_to": "localhost"},
    {**CHANGE, "delegate_to": "{{ pick }}", "no_log": True},
    {**SAY, "delegate_to": "localhost", "when": False},
    {**CHANGE, "delegate_to": "{{ item }}", "loop": ["worker", "localhost"]},
]
ROLE = {
    "meta/argument_specs.yml": {
        "argument_specs": {
            "main": {"short_description": "A role", "options": {"a_role_must": {"type": "str", "required": True}}}
        }
    },
    "tasks/main.yml": [{"ansible.builtin.include_tasks": "more.yml"}],
    "tasks/more.yml": [{**CHANGE, "notify": "Heard"}],
    "handlers/main.yml": [{"name": "Heard", **SAY}],
}
PLAYS = [
    {"hosts": "kinds", "tasks": KINDS},
    {"hosts": "owner", "tasks": DELEGATED},
    {"hosts": "roles", "roles": ["a_role"], "vars": {"a_role_must": "be"}},
    {"hosts": "nameless", "tasks": [{**SAY, "when": False}]},
    {"hosts": "away", "tasks": [{"ansible.builtin.ping": {}}, SAY]},
]


@dataclass(frozen=True)
class Counted:
    """A finished run; costs are without zeros."""

    report: dict[str, Any]

    @property
    def costs(self) -> dict[str, dict[str, int]]:
        found = self.report["hosts"].items()
        return {name: {key: value for key, value in cost.items() if value} for name, cost in found}


def run(folder: Path, plays: list[dict[str, Any]], *words: str) -> Counted:
    """Run plays and return the counts."""
    for name, content in {"hosts.yml": INVENTORY, "plays.yml": [{"gather_facts": False, **p} for p in plays]}.items():
        (folder / name).write_text(yaml.safe_dump(content, sort_keys=False))
    env = {
        **os.environ,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"),
        "ANSIBLE_ROLES_PATH": str(folder / "roles"),
        "ANSIBLE_CALLBACK_PLUGINS": str(ROOT / "bench/callbacks"),
        "ANSIBLE_CALLBACKS_ENABLED": "count",
        "ANSIBLE_NOCOLOR": "1",
        "DRAWBRIDGE_COUNT_FOLDER": str(folder),
    }
    command = [str(Path(sys.executable).parent / "ansible-playbook"), "-i", "hosts.yml", "plays.yml", *words]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=900, check=False)
    path = folder / ("plays-check.json" if "--check" in words else "plays.json")
    assert path.is_file(), done.stdout + done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return Counted(json.loads(path.read_text()))


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Counted:
    """One run with everything in it."""
    folder = tmp_path_factory.mktemp("counted")
    for name, content in ROLE.items():
        path = folder / "roles/a_role" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(content, sort_keys=False))
    return run(folder, PLAYS)


def test_results_are_counted_by_kind_and_a_loop_by_its_items(counted: Counted) -> None:
    # ok: said, rescued, two items, two changed ones; skipped: a task, an item, a loop without items; failed: one, two
    assert counted.costs["kinds"] == {"results": 12, "ok": 6, "changed": 2, "skipped": 3, "failed": 3}


def test_delegated_work_is_charged_to_the_host_that_does_it(counted: Counted) -> None:
    assert counted.costs["localhost"] == {"results": 2, "ok": 2, "changed": 2}
    assert counted.costs["worker"] == {"results": 2, "ok": 2, "changed": 2}
    assert counted.costs["owner"] == {"results": 1, "skipped": 1}


def test_validation_includes_and_handlers_count(counted: Counted) -> None:
    assert counted.costs["roles"] == {"results": 4, "ok": 4, "changed": 1, "validated": 1}


def test_a_host_that_is_away_costs_a_failure(counted: Counted) -> None:
    assert counted.costs["away"] == {"results": 1, "failed": 1}


def test_a_host_without_an_address_does_not_lose_the_counts(counted: Counted) -> None:
    assert counted.costs["nameless"] == {"results": 1, "skipped": 1}


def test_check_mode_has_a_report_of_its_own(tmp_path: Path) -> None:
    checked = run(tmp_path, [{"hosts": "kinds", "tasks": [CHANGE]}], "--check")
    assert (checked.report["playbook"], checked.report["check"]) == ("plays", True)
    assert checked.costs == {"kinds": {"results": 1, "skipped": 1}}
    assert not (tmp_path / "plays.json").exists()


def test_a_session_that_was_open_before_adds_only_its_bytes() -> None:
    tally = Tally()
    before = {"10.0.0.1_22_7": Session("10.0.0.1", 1000, 500)}
    now = {
        "10.0.0.1_22_7": Session("10.0.0.1", 1400, 700),
        "10.0.0.1_22_8": Session("10.0.0.1", 30, 20),
        "10.0.0.2_22_9": Session("10.0.0.2", 5, 6),
    }
    charge(tally, before, now, {"10.0.0.1": "one"})
    assert tally.costs == {
        "one": Cost(sessions=1, sent_bytes=430, received_bytes=220),
        "10.0.0.2": Cost(sessions=1, sent_bytes=5, received_bytes=6),
    }


def test_a_relays_file_is_read_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "fe80::1_22_4711-9").write_text(f"{12:020} {3456:020}\n")
    (tmp_path / ".fe80::1_22_4712-9").write_text("")
    assert sessions(tmp_path) == {"fe80::1_22_4711-9": Session("fe80::1", 12, 3456)}
