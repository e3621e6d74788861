# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports of recorded runs, and of single results. `GOLDEN=write pytest` on this file writes the golden reports anew."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.collect import Event, findings
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.command import shown
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.fold import (
    Run,
    compared,
    document,
    fold,
    hosts_of,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.formats import (
    as_json,
    as_junit,
    as_metrics,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.page_io import as_page
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.secrets import redacted
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.sentences import duration, text

HERE = Path(__file__).parent
RECORDINGS = HERE.parents[2] / "recordings"
RUNS = {"first": False, "nothing": False, "drift": True, "failures": False, "unreachable": False}
"""Recordings of runs in the lab; true for check mode."""
TWO_SCREENS = 120
BOOTSTRAP = "x5yetk.0n4o18h5cye0c87y"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"


def run(check: bool = False, started: str = "2026-11-24T02:00:00+00:00") -> Run:
    plays = [("Check the intent", 0.4), ("Bring nodes to their intended state", 61.0)]
    command = "ansible-playbook playbooks/site.yml" + (" --check" if check else "")
    return Run("site.yml", check, command, started, 72.4, plays, 11)


def recorded(name: str) -> list[Event]:
    content = json.loads(gzip.decompress((RECORDINGS / f"{name}.json.gz").read_bytes()))
    return [Event(**event) for event in content]


def report(events: list[Event], check: bool = False, started: str = "2026-11-24T02:00:00+00:00") -> dict[str, Any]:
    return document(run(check, started), fold(found for event in events for found in findings(event)))


def step(host: str, *steps: str, role: str = "fabric_nic") -> Event:
    return Event("ok", host, role, "Make it so", {"changed": True, "steps": list(steps), "pending": []})


@pytest.mark.parametrize("name", RUNS)
def test_recorded_runs_read_as_they_did(name: str) -> None:
    said = "\n".join(text(report(recorded(name), RUNS[name]))) + "\n"
    golden = HERE / f"{name}.txt"
    if os.environ.get("GOLDEN") == "write":
        golden.write_text(said)
    assert said == golden.read_text()


def test_the_report_of_many_drifts_fits_on_two_screens() -> None:
    found = report(recorded("drift"), check=True)
    assert len(as_junit(found).split("changed: ")) > 40, "the recording has drifts of all layers"
    assert len(text(found)) <= TWO_SCREENS


def test_the_page_loads_nothing_and_shows_every_host_and_no_markup_of_results() -> None:
    page = as_page(report([*recorded("failures"), step("gpu01", "write <script>alert(1)</script>")]))
    assert "<script" not in page
    assert re.findall(r"\b(?:src|href|url|@import)\s*[=(]", page) == []
    assert "default-src 'none'" in page
    for place in {line["hosts"] for line in report(recorded("failures"))["findings"] if line["hosts"]}:
        assert place in page


def test_the_same_step_of_many_hosts_is_one_line() -> None:
    names = [f"gpu{number:04}" for number in range(1, 2001)]
    found = report([step(name, f"write the name {name}", "restart it") for name in reversed(names)])
    assert [(line["hosts"], line["text"]) for line in found["findings"]] == [
        ("gpu[0001-2000]", "write the name HOST"),
        ("gpu[0001-2000]", "restart it"),
    ]
    assert report([step("gpu01", "write the name gpu01")])["findings"][0]["text"] == "write the name gpu01"


def test_a_long_hostlist_is_cut_for_people_and_whole_in_the_page() -> None:
    names = [f"gpu{number:04}" for number in range(0, 2000, 2)]
    found = report([step(name, "restart it") for name in names])
    assert "    1,000 hosts: gpu[0000,0002," in "\n".join(text(found))
    assert max(map(len, text(found))) < 200
    page = as_page(found)
    assert "<summary>1,000 hosts</summary>gpu[0000,0002," in page
    assert ",1998]</details>" in page


def test_a_task_that_only_read_is_not_named() -> None:
    quiet = Event("ok", "gpu01", "fabric_nic", "Look", {"changed": False, "steps": [], "pending": []})
    assert findings(quiet) == []
    assert text(report([quiet]))[0] == "site.yml: nothing to change on 11 hosts. 1 min 12 s."


def test_another_module_s_change_is_named_by_its_task() -> None:
    found = findings(Event("ok", "ctl", "kube_node", "Bind the roles", {"changed": True, "result": {"kind": "Role"}}))
    assert [(one.kind, one.text) for one in found] == [("changed", "Bind the roles")]


def test_only_changed_items_of_a_loop_are_named() -> None:
    items = [{"changed": False, "steps": []}, {"changed": True, "steps": ["add it"], "pending": ["wait: job 1"]}]
    found = findings(Event("ok", "ctl", "r", "Loop", {"changed": True, "results": items}))
    assert [(one.kind, one.text) for one in found] == [("changed", "add it"), ("pending", "wait: job 1")]


def test_a_visit_names_what_was_done_what_failed_and_what_was_not_run() -> None:
    failed = {"state": "failed", "changed": True, "done": ["a"], "left": ["b"], "steps": ["a", "b"], "msg": "disk full"}
    layers = [
        {"role": "gpfs_client", "task": "Mount", **failed},
        {"role": "slurm_node", "task": "Run slurmd", "state": "stopped"},
        {"role": "fabric_nic", "task": "NICs", "state": "done", "changed": True, "steps": ["c"], "pending": ["d: job 7"]},
    ]
    found = findings(Event("failed", "gpu01", "", "Visit", {"failed": True, "msg": "all", "layers": layers}))
    assert [(one.kind, one.layer, one.text) for one in found] == [
        ("changed", "gpfs_client", "a"),
        ("failed", "gpfs_client", "disk full"),
        ("stopped", "slurm_node", "Run slurmd"),
        ("changed", "fabric_nic", "c"),
        ("pending", "fabric_nic", "d: job 7"),
    ]


def test_a_refusal_says_which_line_to_add_and_is_no_failure() -> None:
    line = "it stops traffic; add may_flap: true"
    refused = {"changed": False, "failed": True, "msg": line, "refused": [line], "steps": ["x"], "done": [], "left": ["x"]}
    found = report([Event("failed", "leaf1", "fabric_switch", "Switch", refused)])
    assert [(it["kind"], it["text"]) for it in found["findings"]] == [("refused", line)]
    assert "add its line to the inventory; then run: ansible-playbook playbooks/site.yml" in "\n".join(text(found))


def test_a_hidden_result_and_one_without_a_cause_have_a_sentence() -> None:
    hidden = findings(Event("failed", "a", "", "T", {"censored": "the output has been hidden", "failed": True}))
    assert "hidden" in hidden[0].text
    command = {"failed": True, "msg": "non-zero return code", "stderr": "one\ntwo\n"}
    assert findings(Event("failed", "a", "", "T", command))[0].text == "non-zero return code\none\ntwo"
    assert findings(Event("failed", "a", "", "T", {"failed": True}))[0].text == "failed, and gave no cause"


@pytest.mark.parametrize(
    "said",
    [
        f"kubeadm join --token {BOOTSTRAP} failed",
        f"Authorization: Bearer {JWT}",
        f"token {JWT}",
        "https://admin:hunter22@host/path",
        'password="hunter22" is wrong',
        "StoragePass: x\nslurm_db_password: hunter22",
        "-----BEGIN RSA PRIVATE KEY-----\nhunter22\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_secret_is_replaced(said: str) -> None:
    for secret in ("hunter22", BOOTSTRAP, JWT, JWT.rsplit(".", 1)[0]):
        assert secret not in redacted(said)


@pytest.mark.parametrize(
    "said", ["add slurm_gate_replace_tokens: true", "write a token of system:serviceaccount:drawbridge-gate:opener"]
)
def test_what_is_no_secret_stays(said: str) -> None:
    assert redacted(said) == said


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["/x/bin/ansible-playbook", "site.yml", "-i", "inv"], "ansible-playbook site.yml -i inv"),
        (["p", "-e", "password=hunter22", "--check"], "p -e ... --check"),
        (["p", "-epassword=hunter22", "--extra-vars=a=hunter22", "--extra", "b=hunter22"], None),
        (["p", "-e", "@vars/secret file.yml"], "p -e '@vars/secret file.yml'"),
    ],
)
def test_the_command_has_no_values_of_extra_variables(argv: list[str], expected: str | None) -> None:
    assert "hunter22" not in shown(argv)
    assert expected is None or shown(argv) == expected


def test_a_second_check_says_what_is_new_and_what_is_gone() -> None:
    first = report([step("gpu01", "a"), step("gpu02", "a", "b")], check=True, started="2026-11-23T02:00:00+00:00")
    second = compared(report([step("gpu02", "a"), step("gpu03", "a")], check=True), first)
    assert [(it["text"], it["hosts"], it["new"]) for it in second["findings"]] == [("a", "gpu[02-03]", "gpu03")]
    assert [(it["text"], it["hosts"]) for it in second["gone"]] == [("a", "gpu01"), ("b", "gpu02")]
    said = "\n".join(text(second))
    assert "1 step new since 2026-11-23T02:00:00+00:00" in said
    assert "a (new on gpu03)" in said


def test_junit_has_a_case_for_each_host_and_layer() -> None:
    found = [step("gpu01", "a", "b"), Event("unreachable", "gpu02", "", "Visit", {"msg": "no \x1b route"})]
    suite = ElementTree.fromstring(as_junit(report(found, check=True)))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "1")
    assert [case.get("name") for case in suite] == ["gpu01", "gpu02"]
    assert [case[0].text for case in suite] == ["changed: a\nchanged: b", "unreachable: no ? route"]
    quiet = ElementTree.fromstring(as_junit(report([], check=True)))
    assert (quiet.get("tests"), quiet.get("failures"), len(quiet)) == ("1", "0", 1)


def test_metrics_count_each_host_and_have_zeros() -> None:
    said = as_metrics(report([step("gpu01", "a"), step("gpu02", "a")], check=True)).splitlines()
    assert 'drawbridge_report_findings{kind="changed",layer="fabric_nic"} 2' in said
    assert 'drawbridge_report_findings{kind="failed",layer=""} 0' in said
    assert f"drawbridge_report_start_timestamp_seconds {1795485600}" in said


def test_json_has_what_the_terminal_says_first() -> None:
    found = report([step("gpu02", "a"), step("gpu01", "a")])
    read = json.loads(as_json(found))
    assert read["summary"] == text(found)[0] == "site.yml: 2 steps made on 2 hosts, of 11 hosts. 1 min 12 s."
    assert hosts_of(read["findings"]) == ["gpu01", "gpu02"]


@pytest.mark.parametrize(("seconds", "expected"), [(0.34, "0.3 s"), (48.4, "48 s"), (192, "3 min 12 s"), (3720, "1 h 2 min")])
def test_durations_read_as_people_write_them(seconds: float, expected: str) -> None:
    assert duration(seconds) == expected
