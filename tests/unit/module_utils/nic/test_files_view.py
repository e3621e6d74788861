# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic import files_view

from tests.unit.module_utils.nic.test_view import mixed


def test_a_node_without_nics_needs_no_files() -> None:
    assert (files_view.link_files(mixed(), "cpu01"), files_view.device_files(mixed(), "cpu01")) == ({}, {})


def test_a_dash_separates_folders_in_names_of_units() -> None:
    """As `systemd-escape` prints them."""
    names = ("rail0", "rail-0", "bond0.7", ".7")
    assert list(map(files_view.escaped, names)) == ["rail0", r"rail\x2d0", "bond0.7", r"\x2e7"]
