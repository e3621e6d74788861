# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import hardware_text as text

from lab.emulators.nodes.lldpctl import neighbours


def test_lldpctl_names_switch_and_port() -> None:
    printed = json.dumps(neighbours({"rail0": ["leaf1", "Ethernet1/1"], "rail1": None}))
    assert text.lldpctl(printed) == {"rail0": ["leaf1", "Ethernet1/1"]}
    assert text.lldpctl('{"lldp": [{}]}') == {}


@pytest.mark.parametrize("name", ['leaf1"\n  evil: true', "leaf 1", "", "{{ x }}"])
def test_a_neighbours_name_that_is_no_name_is_left_out(name: str) -> None:
    """LLDP is not authenticated, and names become text of the inventory."""
    assert text.lldpctl(json.dumps(neighbours({"rail0": [name, "swp1"]}))) == {}


def test_mounts_of_shared_file_systems_alone() -> None:
    printed = "proc /proc proc rw 0 0\nfs1 /gpfs/fs1 gpfs rw 0 0\n"
    assert text.mounts(printed) == [{"source": "fs1", "mount": "/gpfs/fs1", "type": "gpfs"}]


@pytest.mark.parametrize(
    ("release", "word"),
    [
        ('ID=debian\nVERSION_ID="13"\n', "debian-13"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.4"\n', "rhel-9"),
        ("ID=ubuntu\nID_LIKE=debian\nVERSION_ID=24.04\n", "ubuntu-24.04"),
    ],
)
def test_the_systems_word(release: str, word: str) -> None:
    assert text.system(release) == word
