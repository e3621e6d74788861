# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    refusals,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic import io as nic_port
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.backends_io import MlnxQos
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.io import NicPorts
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.plan import NicPortQos, NicQos, plan

FACTORY = (Path(__file__).resolve().parents[3] / "transcripts/nic/mlnx_qos/factory.txt").read_text()
WANT = NicQos({"rail0": NicPortQos("dscp", {26: 3}, frozenset({3}))})
CRASH = Completed(1, "", "AttributeError: 'KeyError' object has no attribute 'errno'\n")


REPORT = Completed(0, FACTORY, "")


class Tools:
    """Answers for ip and mlnx_qos, and notes the commands that ran."""

    def __init__(self, *operstates: str, report: Completed = REPORT) -> None:
        """The link's state at each look; the last one stays."""
        self.operstates, self.report, self.ran = list(operstates or ["UP"]), report, []

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        self.ran.append(list(argv))
        if argv[0] != "ip":
            return self.report
        state = self.operstates.pop(0) if len(self.operstates) > 1 else self.operstates[0]
        return Completed(0, json.dumps([{"ifname": "rail0", "operstate": state}]), "")


def ports(tools: Tools) -> NicPorts:
    return NicPorts(tools, {"mlnx_qos": MlnxQos(tools)}, WANT)


def test_a_link_that_may_be_up_needs_consent() -> None:
    steps = plan(ports(Tools("UNKNOWN")).read(), WANT)
    assert len(refusals(steps, {"may_flap_links": False})) == 1


def test_a_link_that_bounces_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nic_port, "LINK_CHECK_S", 0)
    tools = Tools("UP", "DOWN", "DOWN", "UP")
    device = ports(tools)
    device.apply(plan(device.read(), WANT))
    assert [argv[0] for argv in tools.ran[-4:]] == ["mlnx_qos", "ip", "ip", "ip"]


def test_a_link_that_stays_down_is_an_error_and_no_other_is_bounced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nic_port, "LINK_BACK_S", 0)
    monkeypatch.setattr(nic_port, "LINK_CHECK_S", 0)
    tools = Tools("UP", "DOWN")
    device = ports(tools)
    [bounce] = [step for step in plan(device.read(), WANT) if step.payload.flaps]
    with pytest.raises(DeviceError, match="the link of rail0 did not come back"):
        device.apply([bounce, bounce])
    assert len([argv for argv in tools.ran if "--pfc" in argv]) == 1


def test_a_crash_of_the_tool_is_reported_with_its_output() -> None:
    with pytest.raises(DeviceError, match="rail0: mlnx_qos printed no DCBX mode") as caught:
        ports(Tools(report=CRASH)).read()
    assert "KeyError" in caught.value.details["stderr"]
