# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links.io import NicDevices
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links.plan import wanted

WANT = wanted([{"interfaces": ["rail0"], "mtu_bytes": 9000}])


class Tools:
    """Answers by tool, and notes what was run."""

    def __init__(self, managers: str, *links: dict[str, object]) -> None:
        self.ran: list[list[str]] = []
        self.answers = {"ip": json.dumps(links), "systemctl": managers}

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        self.ran.append(list(argv))
        return Completed(0, self.answers[argv[0]], "")


def test_managers_that_do_not_run_own_nothing_and_are_not_called() -> None:
    tools = Tools("inactive\ninactive\n", {"ifname": "rail0", "mtu": 9000, "operstate": "UNKNOWN"})
    have = NicDevices(tools, WANT).read()
    assert have == WANT
    assert (have.links["rail0"].up, have.links["rail0"].most) == (True, 0)
    assert {argv[0] for argv in tools.ran} == {"ip", "systemctl"}


def test_a_device_that_is_missing_is_named() -> None:
    with pytest.raises(DeviceError, match="this host has no rail0; correct nics"):
        NicDevices(Tools("", {"ifname": "eth0", "mtu": 1500}), WANT).read()
