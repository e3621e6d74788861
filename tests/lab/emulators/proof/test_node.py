# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A rail as one end of a flow: sysfs, the port's QoS, the cable that is really plugged in, planted faults."""

import pytest

from lab.emulators.proof import node
from lab.emulators.proof.physics import End

WHOLE = End("gpu01", "rail3", "leaf1", "Ethernet4", priority=3, lossless=True)


@pytest.mark.parametrize(
    ("device", "change", "seen"),
    [
        ("proof", {}, {}),
        (
            "proof",
            {"rails": {"rail3": {"percent": 60, "pcie": [4, 16], "dead": True}}},
            {"percent": 60, "pcie": (4, 16), "dead": True},
        ),
        ("lldpctl", {"neighbours": {"rail3": ["leaf2", "Ethernet9"]}}, {"switch": "leaf2", "port": "Ethernet9"}),
        ("lldpctl", {"neighbours": {"rail3": None}}, {}),
        ("mlnx_qos", {"apps": []}, {"priority": 0, "lossless": False}),
        ("mlnx_qos", {"pfc": [0, 0, 0, 0, 1, 0, 0, 0]}, {"lossless": False}),
        ("mlnx_qos", {"dscp2prio": [5] * 64}, {"priority": 5, "lossless": False}),
        ("sys/class/net/rail3/mtu", "1500", {"mtu": 1500}),
        ("sys/class/net/rail3/operstate", "down", {"up": False}),
        ("sys/class/infiniband/mlx5_3/ports/1/gids/3", node.GID, {"gid": False}),
    ],
)
def test_an_end_is_what_the_host_is(hosts, monkeypatch, device, change, seen):
    for name, value in hosts[0].environment.items():
        monkeypatch.setenv(name, value)
    if isinstance(change, str):
        (hosts[0].directory / device).write_text(f"{change}\n")
    else:
        with hosts[0].device(device).state() as state:
            (state["ports"]["rail3"] if device == "mlnx_qos" else state).update(change)
    assert node.end("mlx5_3", "rail3", 3, 26) == WHOLE._replace(**seen)
    assert [end.rail for end in node.rails(26)] == [f"rail{at}" for at in range(8)]
