# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that a person picks; refused.yml has the refused selections."""

from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.selection import (
    chosen_faults,
    idle_faults,
    narrowed_faults,
    needed,
)

from .test_refused import site

SITE = load(site("lab"))


def test_nodes_of_the_intent_can_be_chosen_in_any_order() -> None:
    assert chosen_faults(SITE, "onboard_nodes", "gpu[03-04],gpu01") == []


def test_they_need_the_clusters_hosts_with_all_gpfs_admin_hosts_and_their_own_leaves() -> None:
    assert needed(SITE, "gpu[01-02]") == ["ctl", "nsd1", "leaf1", "gpu01", "gpu02"]
    assert needed(SITE, "gpu[03-04],gpu01") == ["ctl", "nsd1", "leaf2", "leaf1", "gpu03", "gpu04", "gpu01"]
    raw = site("lab")
    raw["drawbridge_gpfs"]["admin"] = "nsd[1-2]"
    assert needed(load(raw), "gpu01") == ["ctl", "nsd1", "nsd2", "leaf1", "gpu01"]


def test_they_need_the_switches_of_their_storage_ports() -> None:
    rails = load(site("example-rails"))
    stores = [name for name in needed(rails, "gpu001") if name.startswith("store")]
    assert stores == ["store1", "store2"]
    assert len(needed(rails, "gpu001")) == len(["slurm-ctl1", "ess-mgmt1", "gpu001"]) + 8 + len(stores)


def test_a_limit_that_cuts_none_of_them_is_fine() -> None:
    assert narrowed_faults("all", "onboard_nodes", ["ctl", "gpu01"], ["gpu01", "gpu02", "ctl"]) == []


def test_a_limit_that_cuts_some_names_them() -> None:
    (fault,) = narrowed_faults("gpu01", "onboard_nodes", ["ctl", "leaf1", "gpu01"], ["gpu01"])
    assert str(fault) == (
        '--limit is "gpu01", but it leaves out ctl,leaf1, which the chosen nodes need; run without --limit;'
        " onboard_nodes alone selects the hosts"
    )


def test_a_limit_must_leave_a_host_that_the_playbook_configures() -> None:
    groups = {"switches": ["leaf1"], "nodes": ["gpu01"]}
    [fault] = idle_faults("gpu01", ["switches", "login"], groups, ["gpu01"])
    assert fault.reason.endswith("which are those of switches, login")
    assert idle_faults("gpu01", ["switches", "nodes"], groups, ["gpu01"]) == []
    assert idle_faults("gpu01", [], groups, ["gpu01"]) == idle_faults("", ["switches"], groups, []) == []
