# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Functions of inventory files; collection/mistakes.yml has whole inventories."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.inventory_file import (
    address_faults,
    group_file_faults,
    source_faults,
    twice_faults,
)


@pytest.mark.parametrize(
    ("content", "reasons"),
    [
        ("drawbridge_nodes", ["it is no mapping of groups"]),
        (None, ["it is no mapping of groups"]),
        ({"drawbridge_slurm": {}}, ["it has variables, such as drawbridge_slurm, and no groups"]),
        ({"plugin": "cloud", "keys": []}, []),
        ({"all": {"children": {"gpu": None}, "hosts": "ctl", "vars": {"a": 1}}}, []),
        ({"gpu": {"hosts": {"gpu[01:02]": None, "gpu03": {"ansible_host": "::1"}, "ib[1:2]-a": {}}}}, []),
        (
            {"all": {"child": {}, "nodes": {}}},
            [f"Ansible skips the key {key} of the group all" for key in ("child", "nodes")],
        ),
        (
            {"all": {"children": {"gpu": {"hosts": ["gpu01"]}, "x": 1}}},
            ["hosts of the group gpu is a list", "the group x is no mapping"],
        ),
        ({"gpu": {"hosts": {"gpu01": "10.0.0.1"}}}, ["the host gpu01 of the group gpu is no mapping"]),
    ],
)
def test_what_ansible_skips_in_an_inventory_is_named(content: Any, reasons: list[str]) -> None:
    assert [fault.reason for fault in source_faults(PurePath("hosts.yml"), content)] == reasons


def test_slurms_ranges_are_rewritten() -> None:
    [fault] = source_faults(PurePath("hosts.yml"), {"gpu": {"hosts": {"r[1-2]n[01-16]": None}}})
    assert fault.repair == "write r[1:2]n[01:16]"


def test_variables_below_a_folder_that_was_named_belong_elsewhere() -> None:
    [fault] = source_faults(PurePath("site/x.yml"), {"drawbridge_nfs": {}}, named=False)
    assert fault.repair == "move it into the folder group_vars/all"


@pytest.mark.parametrize(
    ("owner", "near"), [("node", "nodes"), ("Switches", "switches"), ("gpu_old", ""), ("rack1", "")]
)
def test_a_file_for_a_group_that_is_a_slip_is_refused(owner: str, near: str) -> None:
    found = [
        fault.repair for fault in group_file_faults(f"group_vars/{owner}.yml", owner, ["nodes", "switches", "gpu"])
    ]
    assert found == ([f"rename it to the group {near}, or add that group"] if near else [])


def test_one_variable_in_two_files_is_refused() -> None:
    files = [("a.yml", ["drawbridge_nfs", "mine"]), ("b.yml", ["mine"]), ("c.yml", ["drawbridge_nfs"])]
    [fault] = twice_faults(files, ["drawbridge_nfs", "drawbridge_kube"])
    assert (fault.key, fault.value) == ("drawbridge_nfs", "a.yml, c.yml")


def test_addresses_are_compared_but_templates_are_not() -> None:
    addresses = {"gpu01": "10.0.0.1", "gpu02": "{{ net }}.2", "gpu03": "{{ net }}.2", "leaf1": "10.0.0.1"}
    variables: dict[str, Any] = {name: {"ansible_host": address} for name, address in addresses.items()}
    behind_one = {"leaf2": {**variables["leaf1"], "ansible_port": 2202}, "leaf3": {}}
    [fault] = address_faults({**variables, **behind_one})
    assert (fault.key, fault.reason.partition(" ")[0]) == ("ansible_host of leaf1", "gpu01")
