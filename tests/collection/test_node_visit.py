# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A visit on this machine predicts its steps, and leaves tasks nothing to do. test_differential.py has values."""

from __future__ import annotations

import getpass
import grp
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.collection.installed import NAME, Completed, Site, run

TASKS: list[dict[str, Any]] = [
    {
        "name": "Write one file for each word",
        f"{NAME}.host_files": {
            "name": "words",
            "directory": "{{ pair_into }}",
            "files": [
                {
                    "path": "{{ pair_into }}/{{ item }}",
                    "content": "{{ __pair_text }} {{ item }} of {{ role_name }} with {{ lookup('file', 'own.txt') }}",
                    "owner": getpass.getuser(),
                    "group": grp.getgrgid(os.getgid()).gr_name,
                }
            ],
        },
        "loop": "{{ pair_words }}",
        "when": "item != 'never' and pair_when",
        "register": "pair_written",
    }
]


@pytest.fixture
def play(site: Site, tmp_path: Path) -> Any:
    """Run a play with a visit and a role `pair` in two forms; `pair` reads defaults, vars, files and a loop."""
    role = tmp_path / "roles/pair"
    for folder, content in {
        "tasks/main.yml": yaml.safe_dump(TASKS),
        "defaults/main.yml": yaml.safe_dump({"pair_words": ["a", "b", "never"], "pair_when": True}),
        "vars/main.yml": yaml.safe_dump({"__pair_text": "text"}),
        "files/own.txt": "a file of its own",
    }.items():
        (role / folder).parent.mkdir(parents=True, exist_ok=True)
        (role / folder).write_text(content)
    into = tmp_path / "into"
    into.mkdir()

    def made(*words: str, visit: Any = None, tasks: Any = None, hosts: str = "localhost", **more: Any) -> Completed:
        layers = tasks or [
            {"name": "Do it", "ansible.builtin.import_role": {"name": "pair"}, "tags": ["never", "apart"]},
            {
                "name": "Do it elsewhere",
                "ansible.builtin.import_role": {"name": "pair"},
                "vars": {"pair_into": f"{into}/sub", "pair_words": ["c"]},
                "tags": ["never", "apart"],
            },
        ]
        own = {"record": f"{tmp_path}/{{{{ inventory_hostname }}}}.json", **(visit or {})}
        first = {"name": "Visit", f"{NAME}.node_visit": own, "tags": ["visit"]}
        content = {"hosts": hosts, "connection": "local", "gather_facts": False, "tasks": [first, *layers]}
        content["vars"] = {"pair_into": str(into), **more}
        playbook = tmp_path / "play.yml"
        playbook.write_text(yaml.safe_dump([content], sort_keys=False))
        settings = {"ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json", "ANSIBLE_PIPELINING": "1"}
        settings["ANSIBLE_CALLBACKS_ENABLED"] = f"{NAME}.report"
        argv = ["ansible-playbook", "-i", f"{hosts},", str(playbook), *words]
        return run(argv, tmp_path, site.environment | settings)

    return made


def results(done: Completed) -> list[dict[str, Any]]:
    assert done.code == 0, done.text
    return [task["hosts"]["localhost"] for task in json.loads(done.out)["plays"][0]["tasks"]]


def written(tmp_path: Path) -> dict[str, str]:
    found = sorted(path for path in (tmp_path / "into").rglob("*") if path.is_file())
    return {str(path.relative_to(tmp_path / "into")): path.read_text() for path in found}


FILES = {
    "a": "text a of pair with a file of its own",
    "b": "text b of pair with a file of its own",
    "sub/c": "text c of pair with a file of its own",
}


def test_a_visit_leaves_what_the_tasks_would_leave(play: Any, tmp_path: Path) -> None:
    [visited] = results(play())
    assert visited["changed"] and written(tmp_path) == FILES
    steps = [step for layer in visited["layers"] for step in layer["steps"]]
    apart = results(play("--tags", "apart"))
    assert [task["changed"] for task in apart] == [False, False], "as tasks they find nothing left to do"
    [again] = results(play())
    assert (again["changed"], again["layers"]) == (False, [])
    for path in (tmp_path / "into/a", tmp_path / "into/b"):
        path.unlink()
    predicted = results(play("--check"))[0]["layers"] + results(play("--check", "--tags", "apart"))
    assert predicted[0]["steps"] == steps[:1] and predicted[1]["steps"] == steps[1:2]
    assert [item["steps"] for item in predicted[2]["results"] if "steps" in item] == [steps[:1], steps[1:2]]


def test_each_host_has_its_own_values(play: Any, tmp_path: Path) -> None:
    own = {
        "pair_words": "{{ [pair_own, pair_common] }}",
        "pair_own": "of_{{ inventory_hostname }}",
        "pair_common": "all",
    }
    words = ("--forks", "1", "-e", f"ansible_python_interpreter={sys.executable}")
    done = play(*words, hosts="one,two", **own)
    assert done.code == 0, done.text
    assert set(written(tmp_path)) == {"of_one", "of_two", "all", "sub/c"}
    assert "callback" not in done.err, done.err
