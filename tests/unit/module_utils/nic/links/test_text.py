# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links import text as links_text

CAPTURED = Path(__file__).resolve().parents[4] / "transcripts/nic/networkctl/status.txt"


def test_networkctl_names_the_file_of_the_devices_that_it_configures() -> None:
    assert links_text.sources(CAPTURED.read_text()) == {"rail7": "/etc/systemd/network/60-site.network"}


def test_network_manager_owns_what_it_has_connected_and_no_more() -> None:
    printed = (
        "rail0:connected:af1e-1\nrail1:connected (externally):af1e-2\nrail2:unmanaged:\nbond\\:0:connected:af1e-3\n"
    )
    assert links_text.profiles(printed) == {"rail0": "af1e-1", "bond:0": "af1e-3"}


def test_a_profile_without_an_mtu_of_its_own() -> None:
    assert [links_text.profile_mtu(text) for text in ("auto\n", "0\n", "", "1500\n")] == [0, 0, 0, 1500]
