# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What single results say."""

from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.collect import Event, findings
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.sentences import text

from tests.unit.module_utils.report.runs import report


def test_another_module_s_change_is_named_by_its_task() -> None:
    found = findings(Event("ok", "ctl", "kube_node", "Bind the roles", {"changed": True, "result": {"kind": "Role"}}))
    assert [(one.kind, one.text) for one in found] == [("changed", "Bind the roles")]


def test_files_on_the_machine_that_runs_ansible_are_no_host_s() -> None:
    found = findings(Event("ok", "ctl", "", "Plan", {"changed": True, "steps": ["write x"], "localhost": True}))
    assert [(one.host, one.text) for one in found] == [("localhost", "write x")]


def test_only_changed_items_of_a_loop_are_named() -> None:
    items = [{"changed": False, "steps": []}, {"changed": True, "steps": ["add it"], "pending": ["wait: job 1"]}]
    found = findings(Event("ok", "ctl", "r", "Loop", {"changed": True, "results": items}))
    assert [(one.kind, one.text) for one in found] == [("changed", "add it"), ("pending", "wait: job 1")]


def test_a_visit_names_steps_done_steps_failed_and_layers_not_run() -> None:
    failed = {"state": "failed", "changed": True, "done": ["a"], "left": ["b"], "steps": ["a", "b"], "msg": "disk full"}
    done = {"state": "done", "changed": True, "steps": ["c"], "pending": ["d: job 7"]}
    layers = [
        {"role": "gpfs_client", "task": "Mount", **failed},
        {"role": "slurm_node", "task": "Run slurmd", "state": "stopped"},
        {"role": "fabric_nic", "task": "NICs", **done},
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
    refused = {"changed": False, "failed": True, "msg": line, "refused": [line], "steps": ["x"], "left": ["x"]}
    found = report([Event("failed", "leaf1", "fabric_switch", "Switch", refused)])
    assert [(it["kind"], it["text"]) for it in found["findings"]] == [("refused", line)]
    assert "add its line to the inventory; then run: ansible-playbook playbooks/site.yml" in "\n".join(text(found))


def test_a_hidden_result_and_one_without_a_cause_have_a_sentence() -> None:
    hidden = findings(Event("failed", "a", "", "T", {"censored": "the output has been hidden", "failed": True}))
    assert "hidden" in hidden[0].text
    command = {"failed": True, "msg": "non-zero return code", "stderr": "one\ntwo\n"}
    assert findings(Event("failed", "a", "", "T", command))[0].text == "non-zero return code\none\ntwo"
    assert findings(Event("failed", "a", "", "T", {"failed": True}))[0].text == "failed, and gave no cause"


def test_a_task_that_only_read_is_not_named() -> None:
    quiet = Event("ok", "gpu01", "fabric_nic", "Look", {"changed": False, "steps": [], "pending": []})
    assert findings(quiet) == []
    assert text(report([quiet]))[0] == "site.yml: nothing to change on 11 hosts. 1 min 12 s."
