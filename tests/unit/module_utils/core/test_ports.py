# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import ports as core_ports
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("Ethernet1", ["Ethernet1"]),
        ("Ethernet9-11", ["Ethernet9", "Ethernet10", "Ethernet11"]),
        ("Ethernet1/3-4,Ethernet3/1", ["Ethernet1/3", "Ethernet1/4", "Ethernet3/1"]),
        ("Ethernet1/1-3/1,Ethernet3/2", ["Ethernet1/1", "Ethernet2/1", "Ethernet3/1", "Ethernet3/2"]),
        ("swp1s0-1,swp2s0", ["swp1s0", "swp1s1", "swp2s0"]),
        ("swp1s0-3s0", ["swp1s0", "swp2s0", "swp3s0"]),
        ("Ethernet0-16:8,Ethernet20", ["Ethernet0", "Ethernet8", "Ethernet16", "Ethernet20"]),
        ("Ethernet1,Ethernet3", ["Ethernet1", "Ethernet3"]),
        ("Ethernet3/1/1-3/3/1", ["Ethernet3/1/1", "Ethernet3/2/1", "Ethernet3/3/1"]),
        ("et-0/0/0-2,xe-0/0/9", ["et-0/0/0", "et-0/0/1", "et-0/0/2", "xe-0/0/9"]),
        ("et-0/0/0-4:2,et-0/0/9", ["et-0/0/0", "et-0/0/2", "et-0/0/4", "et-0/0/9"]),
        ("et-0/0/0:0-1,et-0/0/1:0,ae1", ["et-0/0/0:0", "et-0/0/0:1", "et-0/0/1:0", "ae1"]),
    ],
)
def test_a_list_becomes_ports_in_its_order(text: str, ports: list[str]) -> None:
    assert core_ports.expand(text) == ports
    assert core_ports.compress(ports) == text


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("swp1-2s0-1", ["swp1s0", "swp1s1", "swp2s0", "swp2s1"]),
        ("swp9-10s3,swp1", ["swp9s3", "swp10s3", "swp1"]),
    ],
)
def test_breakout_ports_of_several_ports_are_one_range(text: str, ports: list[str]) -> None:
    assert core_ports.expand(text) == ports
    assert core_ports.expand(core_ports.compress(ports)) == ports


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Ethernet4-2", "'Ethernet4-2' runs backwards"),
        ("swp1-2s3-1", "'swp1-2s3-1' runs backwards"),
        ("Ethernet1-3,Ethernet2", "it names Ethernet2 twice"),
        ("Ethernet1/1-2/4", "'Ethernet1/1-2/4' is no range in which one number changes"),
        ("Ethernet1-2/1", "'Ethernet1-2/1' is no range"),
        ("Ethernet0-9:4", "'Ethernet0-9:4' does not end on a multiple of its step"),
        ("Ethernet", "'Ethernet' is neither a port"),
        ("", "'' is neither a port"),
    ],
)
def test_what_names_no_ports_is_refused(text: str, reason: str) -> None:
    with pytest.raises(core_ports.PortsError, match=reason):
        core_ports.expand(text)


def test_a_name_without_a_number_stands_alone() -> None:
    assert core_ports.compress(["Management", "Ethernet1", "Ethernet2"]) == "Management,Ethernet1-2"


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), unique=True, min_size=1),
    st.sampled_from(
        ["Ethernet{}", "Ethernet{}/{}", "Ethernet3/{}/{}", "Ethernet{}/{}/1", "swp{}s{}", "et-0/{}/{}", "et-0/0/{}:{}"]
    ),
)
def test_compressing_and_expanding_is_the_identity(numbers: list[tuple[int, int]], name: str) -> None:
    ports = list(dict.fromkeys(name.format(*pair) for pair in numbers))
    assert core_ports.expand(core_ports.compress(ports)) == ports
