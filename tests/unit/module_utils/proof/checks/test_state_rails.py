# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.state_rails import (
    RAIL_CHECKS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.limits import (
    INFINIBAND,
    Limit,
    judge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Measure,
    Missing,
    Remark,
)

from tests.unit.module_utils.proof.checks import healthy
from tests.unit.module_utils.proof.checks.healthy import NODE, RAILS

CHECKS = {check.name: check for check in RAIL_CHECKS}
NET, RDMA = "/sys/class/net/rail1", "/sys/class/infiniband/mlx5_1"
PORT = f"{RDMA}/ports/1"


@pytest.mark.parametrize("name", CHECKS)
def test_a_healthy_rail_has_no_finding(name: str) -> None:
    assert CHECKS[name].applies(NODE)
    measures = [one for one in healthy.found(CHECKS[name]) if isinstance(one, Measure)]
    assert measures == healthy.found(CHECKS[name])
    assert [judge(one, CHECKS[name].limit(NODE, one)) for one in measures] == [None] * (2 if name == "rail PCIe" else 0)


@pytest.mark.parametrize(
    ("name", "path", "text", "why"),
    [
        ("rail link", f"{NET}/operstate", "down", "rail1 is down"),
        ("rail link", f"{NET}/speed", "200000", "rail1 has 200000 Mb/s, the intent says 400 Gb/s"),
        ("rail link", f"{PORT}/state", "1: DOWN", "is DOWN, not ACTIVE"),
        ("rail link", f"{PORT}/phys_state", "3: Disabled", "is Disabled, not LinkUp"),
        ("rail link", f"{PORT}/rate", "200 Gb/sec (4X HDR)", "mlx5_1 has 200 Gb/sec (4X HDR)"),
        ("rail PCIe", f"{RDMA}/device/current_link_speed", "2.5 GT/s PCIe", "its link runs at 2.5 GT/s"),
        ("rail MTU", f"{NET}/mtu", "1500", "an MTU of 1500, the intent says 9000"),
        ("rail GID", f"{PORT}/gids/3", "fe80:0000:0000:0000:0000:0000:0000:0001", "mlx5_1 has no RoCE v2 GID"),
        ("rail GID", f"{PORT}/gid_attrs/ndevs/3", "rail1.20", "mlx5_1 has no RoCE v2 GID"),
        ("rail GID", f"{PORT}/gid_attrs/types/3", "IB/RoCE v1", "mlx5_1 has no RoCE v2 GID"),
    ],
)
def test_a_fault_is_named_with_its_rail(name: str, path: str, text: str, why: str) -> None:
    [found] = [one for one in healthy.found(CHECKS[name], texts={path: text}) if not isinstance(one, Measure)]
    assert isinstance(found, Remark) and (found.name, found.where) == (name, "gpu01 rail1") and why in found.why


def test_a_dead_port_is_one_finding() -> None:
    texts = {f"{NET}/operstate": "down", f"{PORT}/state": "1: DOWN", f"{PORT}/phys_state": "3: Disabled"}
    [found] = healthy.found(CHECKS["rail link"], texts=texts)
    assert isinstance(found, Remark) and found.why == (
        f"rail1 is down; {PORT}/state is DOWN, not ACTIVE; {PORT}/phys_state is Disabled, not LinkUp"
    )


@pytest.mark.parametrize("text", [None, "", "new words"])
@pytest.mark.parametrize(
    ("name", "path"),
    [
        *(("rail link", f"{NET}/{file}") for file in ("operstate", "speed")),
        *(("rail link", f"{PORT}/{file}") for file in ("state", "phys_state", "rate")),
        *(("rail PCIe", f"{RDMA}/device/{file}") for file in ("current_link_speed", "current_link_width")),
        ("rail MTU", f"{NET}/mtu"),
    ],
)
def test_a_file_without_a_known_text_is_no_pass(name: str, path: str, text: str | None) -> None:
    if (path.endswith("operstate"), text) != (True, "new words"):  # which is a state that is not up
        found = [one for one in healthy.found(CHECKS[name], texts={path: text}) if isinstance(one, Missing)]
        assert [one.where for one in found] == ["gpu01 rail1"]


def test_the_link_of_a_rail_is_compared_with_its_line_rate() -> None:
    """Gen4 carries 200 Gb/s and not 400."""
    path = f"{RDMA}/device/current_link_speed"
    _good, slow = healthy.found(CHECKS["rail PCIe"], texts={path: "16.0 GT/s PCIe"})
    assert isinstance(slow, Measure) and slow.where == "gpu01 rail1"
    assert judge(slow, CHECKS["rail PCIe"].limit(NODE, slow))
    for gbps, passes in ((200, True), (0, True)):
        other = replace(NODE, rails=(RAILS[0], replace(RAILS[1], gbps=gbps)))
        limit = CHECKS["rail PCIe"].limit(other, slow)
        assert (judge(slow, limit) is None) is passes and isinstance(limit, Limit) is bool(gbps)


def test_an_infiniband_port_has_no_ethernet_and_no_gid_of_roce() -> None:
    node = replace(NODE, fabric=INFINIBAND, priority=-1, mtu_bytes=0)
    assert [name for name, check in CHECKS.items() if not check.applies(node)] == ["rail MTU", "rail GID"]
    assert healthy.found(CHECKS["rail link"], node, texts={f"{NET}/speed": None, f"{NET}/operstate": None}) == []


def test_the_gid_of_the_intent_must_be_a_usable_one() -> None:
    assert healthy.found(CHECKS["rail GID"], replace(NODE, gid_index=3)) == []
    for index in (1, 2, 7):
        found = healthy.found(CHECKS["rail GID"], replace(NODE, gid_index=index))
        assert [isinstance(one, Remark) and "3 is" in one.why for one in found] == [True, True]
    gone = {path: None for path in healthy.TEXTS if path.startswith(f"{PORT}/gids/")}
    assert isinstance(healthy.found(CHECKS["rail GID"], texts=gone)[0], Missing)
