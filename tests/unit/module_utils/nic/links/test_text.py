# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
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


ETHTOOL = Path(__file__).resolve().parents[4] / "transcripts/nic/ethtool"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("pause", {"global pause rx": "off", "global pause tx": "on"}),
        ("pause_negotiated", {"global pause rx": "on", "global pause tx": "off"}),
        ("rings", {"ring rx": "1024", "ring tx": "2048"}),
        ("rings_netlink", {"ring rx": "1024", "ring tx": "2048"}),
    ],
)
def test_settings_of_a_port_from_the_text_that_all_releases_of_ethtool_print(name: str, wanted: dict[str, str]) -> None:
    _head, _sep, printed = (ETHTOOL / f"{name}.txt").read_text().partition("\n")
    assert links_text.port_settings(printed) == wanted


@pytest.mark.parametrize(
    "printed", ["", "inactive\n", "Pause parameters for rail0:\nRX:\t\tn/a\nTX:\t\tn/a\n", '[{"rx": true, "tx": true}]']
)
def test_text_without_the_settings_of_a_port_is_refused(printed: str) -> None:
    with pytest.raises(ValueError, match="ethtool printed no settings of a port, but"):
        links_text.port_settings(printed)
