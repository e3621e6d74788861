# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.adapters.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.adapters.nic_port import NicPorts
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.dialects.mlnx_qos import NicQos, PortQos
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.plans.qos import plan

FACTORY = (Path(__file__).resolve().parents[3] / "transcripts/mlnx_qos/factory.txt").read_text()
WANT = NicQos({"rail0": PortQos("dscp", {26: 3}, frozenset({3}))})
CRASH = Completed(1, "", "AttributeError: 'KeyError' object has no attribute 'errno'\n")


REPORT = Completed(0, FACTORY, "")


class Tools:
    """Answers for ip and mlnx_qos, and notes what was run."""

    def __init__(self, operstate: str = "UP", report: Completed = REPORT) -> None:
        self.links, self.report, self.ran = [{"ifname": "rail0", "operstate": operstate}], report, []

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        self.ran.append(list(argv))
        return Completed(0, json.dumps(self.links), "") if argv[0] == "ip" else self.report


def ports(tools: Tools, may_flap_links: bool = False) -> NicPorts:
    return NicPorts(tools, {"ip": "ip", "mlnx_qos": "mlnx_qos"}, ["rail0"], [26], may_flap_links)


def test_a_link_that_is_down_needs_no_consent() -> None:
    tools = Tools("DOWN")
    device = ports(tools)
    device.apply(plan(device.read(), WANT))
    assert tools.ran[-1] == ["mlnx_qos", "-i", "rail0", "--pfc", "0,0,0,1,0,0,0,0"]


@pytest.mark.parametrize("operstate", ["UP", "UNKNOWN"])
def test_a_link_that_may_be_up_needs_it(operstate: str) -> None:
    device = ports(Tools(operstate))
    with pytest.raises(DeviceError, match="fabric_nic_may_flap_links: true"):
        device.apply(plan(device.read(), WANT))


def test_a_tool_that_crashes_is_told_with_its_words() -> None:
    with pytest.raises(DeviceError, match="rail0: mlnx_qos printed no DCBX mode") as caught:
        ports(Tools(report=CRASH)).read()
    assert "KeyError" in caught.value.details["stderr"]
