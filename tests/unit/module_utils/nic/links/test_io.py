# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links.io import NicDevices
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links.plan import wanted

from tests.unit.module_utils.answers import Answers

WANT = wanted([{"interfaces": ["rail0"], "mtu_bytes": 9000}])


def tools(**link: object) -> Answers:
    """No manager runs, and there is this device."""
    return Answers({"ip": json.dumps([link]), "systemctl": "inactive\ninactive\n"})


def test_managers_that_do_not_run_own_nothing_and_are_not_called() -> None:
    run = tools(ifname="rail0", mtu=9000, operstate="UNKNOWN")
    have = NicDevices(run, WANT).read()
    assert have == WANT
    assert (have.links["rail0"].up, have.links["rail0"].most) == (True, 0)
    assert {line.split()[0] for line in run.asked} == {"ip", "systemctl"}


def test_a_device_that_is_missing_is_named() -> None:
    with pytest.raises(DeviceError, match="this host has no rail0; correct nics"):
        NicDevices(tools(ifname="eth0", mtu=1500), WANT).read()
