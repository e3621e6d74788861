# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action import preflight_verdict
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError

from tests.unit.module_utils.preflight_site import SOUND, WANT, planted

GOOD = {"facts": SOUND, "want": WANT, "clock_s": [-0.1, 0.1], "lost": ""}
SWAP = {**GOOD, "facts": planted("system", swaps=["/dev/sda2"])}


def run(monkeypatch: pytest.MonkeyPatch, hosts: dict[str, Any], check_mode: bool = False, **args: Any) -> Any:
    """One verdict on these answers."""
    task = MagicMock(args={"answers": "answer", **args}, check_mode=check_mode, async_val=0)
    action = preflight_verdict.ActionModule(*[task, *(MagicMock() for _ in range(5))])
    action._display = MagicMock()
    monkeypatch.setattr(preflight_verdict.ActionBase, "run", lambda *given: {})
    hostvars = SimpleNamespace(raw_get=lambda host: {"answer": hosts[host]} if hosts[host] is not None else {})
    variables = {"hostvars": hostvars, "ansible_play_hosts_all": list(hosts), "inventory_hostname": "gpu01"}
    return action.run(task_vars=variables)


def test_a_sound_site_succeeds(monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(monkeypatch, {"gpu01": GOOD})
    assert (found["failed"], found["msg"], found["changed"]) == (False, "Preflight: sound, 1 host.", False)


def test_a_finding_fails_unless_it_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(monkeypatch, {"gpu01": SWAP}, accept_with="site_accepted")
    assert found["failed"]
    assert found["msg"].splitlines()[0] == "Preflight: not sound. 1 finding on 1 of 1 host."
    assert found["msg"].splitlines()[-1].endswith("site_accepted: [swap_on]")
    assert not run(monkeypatch, {"gpu01": SWAP}, accepted=["swap_on"])["failed"]


def test_an_unknown_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(monkeypatch, {"gpu01": GOOD}, accepted=["swap"], accept_with="site_accepted")
    assert found["msg"] == "site_accepted is swap, but there is no such finding; use names of reports"


@pytest.mark.parametrize("answer", [None, {}, {"failed": True, "msg": "timed out"}, {**GOOD, "lost": "no route"}])
def test_a_host_without_an_answer_is_a_finding(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    found = run(monkeypatch, {"gpu01": GOOD, "gpu02": answer})
    assert [(it["name"], it["hosts"]) for it in found["report"]["findings"]] == [("unreachable", "gpu02")]


def test_the_report_is_a_file_but_not_in_check_mode(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    run(monkeypatch, {"gpu01": SWAP}, check_mode=True, report=str(path))
    assert not path.exists()
    found = run(monkeypatch, {"gpu01": SWAP}, report=str(path))
    assert json.loads(path.read_text()) == found["report"]


@pytest.mark.parametrize(
    ("kubeconfig", "missing", "text"),
    [
        ("", [], "no kubeconfig is set; export KUBECONFIG=FILE where Ansible runs, with the installer's rights"),
        ("/k", ["patch nodes"], "the run lacks rights: patch nodes"),
        ("/k", DeviceError("no answer"), "no answer"),
        ("/k", [], None),
    ],
)
def test_rights_are_judged(monkeypatch: pytest.MonkeyPatch, kubeconfig: str, missing: Any, text: str | None) -> None:
    def check(ask: Any, objects: Any) -> Any:
        if isinstance(missing, Exception):
            raise missing
        return missing

    if kubeconfig:
        monkeypatch.setattr(preflight_verdict, "connect", lambda path: path)
    monkeypatch.setattr(preflight_verdict, "check", check)
    found = run(monkeypatch, {"gpu01": GOOD}, kubeconfig=kubeconfig, rights=[{"kind": "Role"}])
    assert [it["text"] for it in found["report"]["findings"]] == ([text] if text else [])
