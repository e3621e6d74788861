# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.reader import Reader
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.nics import Nics

RAILS = {"netdev": "rail[0-1]", "rdma": "mlx5_[0-1]", "numa": [0, 1]}


def read(**keys: Any) -> tuple[Nics, list[str]]:
    reader = Reader()
    return reader.record(Nics, {**RAILS, **keys}, "nics"), [fault.key for fault in reader.faults]


def test_a_bond_has_ports_and_a_rail_is_one() -> None:
    assert read()[0].ports == ("rail0", "rail1")
    assert read(members="ens1f[0-3]")[0].ports == ("ens1f0", "ens1f1", "ens1f2", "ens1f3")


def test_routes_and_firmware_stay_as_they_are_by_default() -> None:
    nics, _ = read()
    assert (nics.route_table, nics.gateway, nics.firmware) == (0, "", ())


@pytest.mark.parametrize("parameter", ["ATS_ENABLED", "ATS_ENABLED=off", "ats_enabled=0", "A=1 B=2", "-y=1"])
def test_a_parameter_is_a_name_and_a_number(parameter: str) -> None:
    assert read(firmware=["ATS_ENABLED=0", parameter])[1] == ["nics.firmware[1]"]
