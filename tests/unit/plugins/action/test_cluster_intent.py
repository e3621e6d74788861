# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys

from ansible_collections.drawbridge.drawbridge.plugins.action.cluster_intent import (
    ROLES,
    choice_faults,
    limit_faults,
    settings,
    stray_faults,
    unread_faults,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load

from tests.conformance.tree import ROLES as ROLE_FOLDERS
from tests.conformance.tree import ROOT
from tests.unit.module_utils.site.test_refused import site


def test_a_limit_with_the_controllers_is_fine() -> None:
    assert limit_faults(["ctl"], "", {"ansible_play_hosts_all": ["ctl", "gpu01"], "ansible_limit": "ctl,gpu01"}) == []


def test_a_limit_without_the_controllers_prints_the_line_to_run() -> None:
    task_vars = {
        "ansible_play_hosts_all": ["gpu02", "gpu01", "leaf1"],
        "ansible_limit": "gpu01,gpu02,leaf1",
        "groups": {"nodes": ["gpu01", "gpu02", "gpu03"]},
    }
    (fault,) = limit_faults(["ctl"], "onboard -e 'onboard_nodes={nodes}'", task_vars)
    assert fault.repair == "run without --limit, or onboard single nodes with: onboard -e 'onboard_nodes=gpu[01-02]'"


def test_strays_are_named_with_their_place() -> None:
    faults = stray_faults({"drawbridge_kube": {}, "other": 1, "drawbridge_gpfs": {}}, "host_vars/gpu01.yml")
    assert [(fault.key, fault.value) for fault in faults] == [
        ("drawbridge_gpfs", "host_vars/gpu01.yml"),
        ("drawbridge_kube", "host_vars/gpu01.yml"),
    ]


def test_variables_of_roles_are_no_strays() -> None:
    assert stray_faults({"drawbridge_run_view": {}, "slurm_gate_view": {}}, "host_vars/gpu01.yml") == []
    assert unread_faults({"drawbridge_run_view": {}, "slurm_gate_view": {}}, "host_vars/gpu01.yml") == []


def test_a_name_that_nothing_reads_is_no_stray_but_refused_for_its_name() -> None:
    assert stray_faults({"drawbridge_running": {}}, "host_vars/gpu01.yml") == []
    [fault] = unread_faults({"drawbridge_running": {}, "drawbridge_nodes": {}}, "host_vars/gpu01.yml")
    assert fault.key == "drawbridge_running (host_vars/gpu01.yml)"


def test_variables_of_roles_are_separated_from_others() -> None:
    variables = {"kube_node_state": 1, "kube_nodes": 2, "drawbridge_kube": 3, "drawbridge_run_view": 4, "nodes": 5}
    assert dict(settings(variables)) == {"kube_node_state": 1, "drawbridge_run_view": 4}
    assert {role.name for role in ROLE_FOLDERS} == set(ROLES)


def test_a_choice_is_refused_for_what_it_names_before_what_a_limit_leaves() -> None:
    intent, task_vars = load(site("lab")), {"ansible_play_hosts_all": ["gpu01"], "ansible_limit": "gpu01"}
    assert [fault.key for fault in choice_faults(intent, "retire_nodes", "gpu09", task_vars)] == ["retire_nodes"]
    assert [fault.key for fault in choice_faults(intent, "retire_nodes", "gpu01", task_vars)] == ["--limit"]
    everybody = {"ansible_play_hosts_all": ["ctl", "nsd1", "leaf1", "leaf2", "gpu01", "gpu02"]}
    assert choice_faults(intent, "retire_nodes", "gpu[01-02]", everybody) == []


def test_forked_workers_find_views_loaded() -> None:
    """As Ansible does it: its strategy looks this plugin up in the process that forks."""
    look = (
        "import sys; from ansible.plugins.loader import action_loader, init_plugin_loader;"
        f"init_plugin_loader(['{ROOT}/collections']);"
        "action_loader.get('drawbridge.drawbridge.cluster_intent', class_only=True); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", look], cwd=ROOT, capture_output=True, text=True, check=True)
    package = "ansible_collections.drawbridge.drawbridge.plugins"
    wanted = {f"{package}.lookup.view", f"{package}.module_utils.drawbridge.site.views"}
    assert wanted - set(done.stdout.split()) == set()
