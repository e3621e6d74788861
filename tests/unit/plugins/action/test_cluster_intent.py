# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys

from ansible_collections.drawbridge.drawbridge.plugins.action.cluster_intent import (
    choice_faults,
    limit_faults,
    stray_faults,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.intent.load import load

from tests.conformance.tree import ROOT
from tests.unit.intent.test_refused import site


def test_a_limit_with_the_controllers_is_fine() -> None:
    assert limit_faults(["ctl"], {"ansible_play_hosts_all": ["ctl", "gpu01"], "ansible_limit": "ctl,gpu01"}) == []


def test_a_limit_without_the_controllers_prints_the_line_to_run() -> None:
    task_vars = {
        "ansible_play_hosts_all": ["gpu02", "gpu01", "leaf1"],
        "ansible_limit": "gpu01,gpu02,leaf1",
        "groups": {"nodes": ["gpu01", "gpu02", "gpu03"]},
    }
    (fault,) = limit_faults(["ctl"], task_vars)
    assert fault.repair.endswith("ansible-playbook playbooks/onboard.yml -e nodes=gpu[01-02]")


def test_strays_are_named_with_their_place() -> None:
    faults = stray_faults({"drawbridge_kube": {}, "other": 1, "drawbridge_gpfs": {}}, "host_vars/gpu01.yml")
    assert [(fault.key, fault.value) for fault in faults] == [
        ("drawbridge_gpfs", "host_vars/gpu01.yml"),
        ("drawbridge_kube", "host_vars/gpu01.yml"),
    ]


def test_a_choice_is_refused_for_what_it_names_before_what_a_limit_leaves() -> None:
    intent, task_vars = load(site("lab")), {"ansible_play_hosts_all": ["gpu01"], "ansible_limit": "gpu01"}
    assert [fault.key for fault in choice_faults(intent, "gpu09", task_vars)] == ["nodes"]
    assert [fault.key for fault in choice_faults(intent, "gpu01", task_vars)] == ["--limit"]


def test_a_choice_without_a_limit_is_fine() -> None:
    everybody = ["ctl", "nsd1", "leaf1", "leaf2", "gpu01", "gpu02"]
    assert choice_faults(load(site("lab")), "gpu[01-02]", {"ansible_play_hosts_all": everybody}) == []


def test_forked_workers_find_filters_and_views_loaded() -> None:
    """As Ansible does it: its strategy looks this plugin up in the process that forks."""
    look = (
        "import sys; from ansible.plugins.loader import action_loader, init_plugin_loader;"
        f"init_plugin_loader(['{ROOT}/collections']);"
        "action_loader.get('drawbridge.drawbridge.cluster_intent', class_only=True); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", look], cwd=ROOT, capture_output=True, text=True, check=True)
    package = "ansible_collections.drawbridge.drawbridge.plugins.filter"
    wanted = {f"{package}.{path.stem}" for path in (ROOT / "filter_plugins").glob("*.py")}
    assert wanted - set(done.stdout.split()) == set()
