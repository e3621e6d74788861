# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from functools import reduce

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.roce.plan import (
    DEBUGFS,
    OFED,
    NicRoce,
    NicRoces,
    plan,
    wanted,
)
from hypothesis import given
from hypothesis import strategies as st

BOND = {"netdev": "bond0", "rdma": "mlx5_bond_0", "ports": ["ens1f0", "ens1f1"]}
RAIL = {"netdev": "rail0", "rdma": "mlx5_0", "ports": ["rail0"]}
GROUP = {"devices": [RAIL], "tos": 106, "cnp_dscp": 48, "cnp_priority": 6, "ecn_priorities": [3], "needs_gid": True}
WANT = wanted([GROUP, {**GROUP, "devices": [BOND], "tos": 138, "ecn_priorities": [], "needs_gid": False}])


def have(path: str = OFED, **settings: str) -> NicRoces:
    """The wanted state of rail0 with some of its values changed, and that of the bond."""
    devices = {
        name: replace(
            it, gid=3, paths={scope: path for scope, _ in it.settings if scope}, pci={"rail0": "0000:18:00.0"}
        )
        for name, it in WANT.devices.items()
    }
    rail = devices["rail0"]
    changed = {key: settings.get(key[1].replace(" ", "_"), value) for key, value in rail.settings.items()}
    return NicRoces({**devices, "rail0": replace(rail, settings=changed)})


def test_a_bond_has_one_device_and_congestion_control_on_each_port() -> None:
    scopes = [scope for scope, _ in WANT.devices["bond0"].settings]
    assert sorted(set(scopes)) == ["", "ens1f0", "ens1f1"]
    assert WANT.devices["bond0"].settings["", "default_roce_tos"] == "138"


VALUES = st.dictionaries(
    st.sampled_from(["CNP_DSCP", "CNP_priority", "default_roce_tos"]), st.integers(0, 255).map(str)
)


@given(path=st.sampled_from([OFED, DEBUGFS]), values=VALUES, cm=st.booleans())
def test_from_anywhere_the_steps_end_where_nothing_is_left(path: str, values: dict[str, str], cm: bool) -> None:
    before = replace(have(path, **values), cm=cm)
    after = reduce(lambda state, step: step.becomes(state), plan(before, WANT), before)
    assert {name: it.settings for name, it in after.devices.items()} == {
        name: it.settings for name, it in WANT.devices.items()
    }
    assert plan(after, WANT) == []


def test_the_diff_names_device_setting_and_value() -> None:
    state = NicRoces({"rail0": NicRoce("mlx5_0", {("rail0", "CNP DSCP"): "48"})}, cm=False)
    assert state.lines() == ["rdma_cm is not loaded", "rail0 mlx5_0 rail0 CNP DSCP: 48"]
