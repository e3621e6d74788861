# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic import files_view

from tests.unit.module_utils.nic.test_view import mixed


def test_a_node_without_nics_needs_no_files() -> None:
    assert (files_view.link_files(mixed(), "cpu01"), files_view.device_files(mixed(), "cpu01")) == ({}, {})


def test_a_library_with_a_file_of_its_own_gets_the_same_variables() -> None:
    """RCCL takes NCCL's variables and reads /etc/rccl.conf alone."""
    text = "NCCL_IB_TC=106\nNCCL_IB_HCA==mlx5_0\n"
    nccl = {"path": "/etc/nccl.conf", "content": text}
    variables = {"NCCL_IB_TC": "106", "NCCL_IB_HCA": "=mlx5_0"}
    assert files_view.nccl_blocks(variables) == [nccl]
    assert files_view.nccl_blocks(variables, "/etc/rccl.conf") == [nccl, {**nccl, "path": "/etc/rccl.conf"}]
    assert files_view.nccl_blocks({}, "/etc/rccl.conf") == []


def test_a_dash_separates_folders_in_names_of_units() -> None:
    """As `systemd-escape` prints them."""
    names = ("rail0", "rail-0", "bond0.7", ".7")
    assert list(map(files_view.escaped, names)) == ["rail0", r"rail\x2d0", "bond0.7", r"\x2e7"]
