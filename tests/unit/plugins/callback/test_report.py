# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The callback as ansible-playbook runs it, with secrets planted wherever a playbook can have some."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[4]
SECRET = "hunter22-planted"
PLAY: dict[str, Any] = {
    "name": "Plant secrets",
    "hosts": "all",
    "gather_facts": False,
    "vars": {"secret": SECRET},
    "tasks": [
        {"name": "Change", "ansible.builtin.command": {"cmd": "echo {{ secret }}"}},
        {"name": "Prove it", "prove": {}, "when": "inventory_hostname != 'a2'"},
        {"name": "Only read", "ansible.builtin.debug": {"msg": "{{ secret }}"}},
        {"name": "Hidden", "ansible.builtin.command": {"cmd": "echo {{ secret }}"}, "no_log": True},
        {"name": "Bear it", "ansible.builtin.fail": {"msg": "{{ secret }}"}, "ignore_errors": True},
        {
            "name": "Say it",
            "ansible.builtin.fail": {"msg": "rejected password={{ secret }}"},
            "when": "inventory_hostname == 'a1'",
        },
        {
            "name": "Hide it",
            "ansible.builtin.fail": {"msg": "{{ secret }}"},
            "no_log": True,
            "when": "inventory_hostname == 'a2'",
        },
    ],
}
PROVES = """#!/bin/sh
echo '{"changed": false, "proved": true, "layers": []}'
"""
"""A module that answers as a visit does whose node is ready for jobs."""
FORMATS = ("json", "html", "junit", "metrics")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what a run printed and wrote."""
    path = tmp_path_factory.mktemp("run")
    (path / "play.yml").write_text(yaml.safe_dump([PLAY]))
    (path / "library").mkdir()
    (path / "library/prove").write_text(PROVES)
    own = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    hosts = {"all": {"vars": own, "hosts": {"a1": None, "a2": None, "a3": None}}}
    (path / "hosts.yml").write_text(yaml.safe_dump(hosts))
    options = {f"DRAWBRIDGE_REPORT_{kind.upper()}": str(path / "out" / kind) for kind in FORMATS}
    options["DRAWBRIDGE_REPORT_FOLDER"] = str(path / "runs")
    environment = {
        **os.environ,
        **options,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"),
    }
    argv = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", "hosts.yml", "play.yml"]
    extra = ["-De", f"other={SECRET}"]
    done = subprocess.run([*argv, *extra], cwd=path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stdout + done.stderr
    (path / "printed").write_text(done.stdout[done.stdout.index("play.yml: ") :])
    return path


def test_the_folder_keeps_the_run_with_its_hosts(folder: Path) -> None:
    (kept,) = (folder / "runs").iterdir()
    report = json.loads(kept.read_text())
    assert kept.name == f"{report['started'].replace(':', '')}-play.yml.json"
    assert (report["hosts"], report["names"], report["proved"]) == (3, "a[1-3]", "a[1,3]")


@pytest.mark.parametrize("kind", FORMATS)
def test_no_file_holds_a_secret(folder: Path, kind: str) -> None:
    said = (folder / "out" / kind).read_text()
    assert said
    assert SECRET not in said


def test_the_terminal_has_the_report_without_secrets(folder: Path) -> None:
    said = (folder / "printed").read_text()
    assert SECRET not in said
    assert said.startswith("play.yml: 6 steps made on 3 hosts, of 3 hosts; failed on 2 hosts.")
    assert "a[1-3]                    Change" in said
    assert "a1                        Say it: rejected password=<hidden>" in said
    assert "a2                        Hide it: failed; its result is hidden, because it may hold a secret" in said
    assert "Bear it" not in said
    assert "Only read" not in said
    assert "repair the cause; then run: ansible-playbook -i hosts.yml play.yml -De other=...\n" in said


def test_output_that_programs_read_stays_json(tmp_path: Path) -> None:
    (tmp_path / "play.yml").write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": []}]))
    environment = {
        **os.environ,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"),
        "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
        "DRAWBRIDGE_REPORT_JSON": "report.json",
    }
    argv = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", "localhost,", "play.yml"]
    done = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert "plays" in json.loads(done.stdout)
    assert (tmp_path / "report.json").exists()


def test_json_has_hosts_and_times(folder: Path) -> None:
    read = json.loads((folder / "out/json").read_text())
    assert (read["hosts"], read["check"], read["plays"][0]["name"]) == (3, False, "Plant secrets")
    assert read["seconds"] >= read["plays"][0]["seconds"]
