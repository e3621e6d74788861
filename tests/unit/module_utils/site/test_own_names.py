# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.own_names import (
    spelling_faults,
    unread,
)

KNOWN = ("drawbridge_nodes", "drawbridge_slurm", "drawbridge_fabric", "drawbridge_nfs")


@pytest.mark.parametrize(
    ("name", "repair"),
    [
        ("drawbridge_nsf", "write drawbridge_nfs, or rename your own variable"),
        ("drawbridge_fabirc", "write drawbridge_fabric, or rename your own variable"),
        ("drawbridge_slurm.version", "write version: ... below drawbridge_slurm in the inventory's group_vars/all"),
        (
            "drawbridge_lustre",
            f"use one of {', '.join(sorted(KNOWN))}, or rename your own variable",
        ),
    ],
)
def test_a_name_that_nothing_reads_is_refused_with_the_name_that_it_may_be(name: str, repair: str) -> None:
    [fault] = unread([name, "mine", "drawbridge_nodes"], KNOWN, "--extra-vars")
    assert (fault.key, fault.value, fault.repair) == (f"{name} (--extra-vars)", "(not shown)", repair)


def test_names_of_others_are_the_sites() -> None:
    assert [*unread(["nodes", "my_drawbridge_thing", *KNOWN], KNOWN, "group_vars/all")] == []


def test_names_with_dashes_or_capitals_are_refused_where_they_would_be_ours() -> None:
    names = ["drawbridge-nfs", "Drawbridge_kube", "my-own", "NODES", "drawbridge_slurm"]
    found = [fault.repair for fault in spelling_faults(names, ("drawbridge_", "kube_node_"), "group_vars/all")]
    assert found == [f"write drawbridge_{name}, or rename your own variable" for name in ("nfs", "kube")]
