# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Limits against published points of healthy and of broken hardware, and the examples of the page about them."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof import limits
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.collectives import (
    ALL_GATHER,
    ALL_REDUCE,
    ALLTOALL,
    Group,
    bus_bandwidth,
    most_bus_bandwidth,
    node_bus_bandwidth,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.limits import (
    INFINIBAND,
    Derived,
    Finding,
    NoLimit,
    judge,
    overridden,
    rail_bandwidth,
    rail_latency,
    shown,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Limit,
    Measure,
    Missing,
)

PAGE = (Path(__file__).parents[4] / "docs/concepts/proof-limits.md").read_text()
A100, H100, MI300X = "NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3", "AMD Instinct MI300X"


def node(product: str) -> Derived:
    return bus_bandwidth(ALL_REDUCE, Group(1, 8, 8, 400, product))


def nodes(count: int, gpus: int = 8) -> Group:
    return Group(count, gpus, gpus, 400, H100)


EXAMPLES: list[Derived] = [
    *(rail_bandwidth(400, 4096), rail_bandwidth(400, 2048), rail_bandwidth(200, 4096, vlan=True)),
    *(rail_bandwidth(400, 4096, INFINIBAND), limits.path_mtu(9000), rail_bandwidth(400, 4096, oversubscription=2)),
    *(rail_latency(), rail_latency(3), rail_latency(3, read=True), limits.rail_pcie(400), limits.host_copy(5, 16)),
    limits.gpu_copy("NVIDIA GB200"),
    *(limits.gemm(H100), limits.gemm("NVIDIA L40S"), limits.gpu_memory(H100), limits.gpu_memory("NVIDIA Example")),
    *(node(product) for product in (H100, A100, MI300X, "NVIDIA L40S")),
    node_bus_bandwidth(ALL_REDUCE, 8, H100, nvls=False),
    *(bus_bandwidth(it, nodes(4)) for it in (ALL_REDUCE, ALL_GATHER, ALLTOALL)),
    *(
        bus_bandwidth(ALL_REDUCE, nodes(4, 1)),
        most_bus_bandwidth(ALL_REDUCE, nodes(4)),
        bus_bandwidth(ALL_REDUCE, nodes(2)),
    ),
    *(limits.host_memory(250, 2), limits.host_memory(None, 2), limits.file_system(), limits.file_system(5, 32)),
    limits.most_oversubscription(),
]


def test_the_page_has_the_lines_that_a_report_prints() -> None:
    assert re.findall(r"^ {4,}((?:at least|at most|no limit).*)$", PAGE, re.MULTILINE) == [shown(it) for it in EXAMPLES]


@pytest.mark.parametrize(
    "limit", [it for it in EXAMPLES if isinstance(it, Limit) and it.unit not in (":1", "bytes")], ids=shown
)
def test_the_printed_numbers_give_the_limit(limit: Limit) -> None:
    """A reader can compute it again from the line alone; percentages are rounded to a tenth."""
    text = re.sub(r"\([^()]*\)", "", limit.why).split("=")[0].replace("%", "/ 100")
    text = re.sub(r"[A-Za-z]+/s|\b(?!x\b)[A-Za-z]+", "", text).replace("x", "*")
    assert eval(text) == pytest.approx(limit.value, rel=1e-3)


@pytest.mark.parametrize(
    ("limit", "unit", "healthy", "broken"),
    [
        # 370.3 is all that a wire with an MTU of 1024 carries, 360 a healthy 400G rail with one
        (rail_bandwidth(400, 4096), "Gb/s", (384, 390), (370.3, 193.7, math.nan)),
        (rail_bandwidth(200, 4096), "Gb/s", (193.7, 192), (185,)),
        (rail_bandwidth(100, 4096), "Gb/s", (96,), (92,)),
        (rail_bandwidth(400, 1024), "Gb/s", (360,), (350,)),
        (rail_bandwidth(400, 4096, oversubscription=2), "Gb/s", (192,), (95,)),
        (rail_latency(), "us", (1.8, 5), (5.1, 30, math.nan)),
        (rail_latency(3), "us", (6.5,), (7.5,)),
        (limits.rail_pcie(400), "GB/s", (limits.pcie_payload(5, 16), limits.pcie_payload(6, 8)), (28.8, 52 / 2)),
        (limits.rail_pcie(200), "GB/s", (limits.pcie_payload(4, 16), limits.pcie_payload(5, 8)), (14.4,)),
        (limits.host_copy(5, 16), "GB/s", (55.1, 54.8, 46.8, 52), (25, 27.5)),
        (limits.gemm(H100), "TFLOPS", (785.4, 794, 756.6), (650,)),
        (limits.gemm(MI300X), "TFLOPS", (668,), (590,)),
        (limits.gemm("NVIDIA B200"), "TFLOPS", (1745,), (1400,)),
        (limits.gpu_memory(H100), "GB/s", (2903, 2981.7), (2400,)),
        (limits.gpu_memory("NVIDIA B200"), "GB/s", (6000,), (3850,)),
        (overridden(limits.gpu_memory(MI300X), 4000), "GB/s", (4000,), (3999,)),
        (limits.file_system(2, 64), "GB/s", (128,), (127,)),
    ],
)
def test_published_points(limit: Derived, unit: str, healthy: tuple[float, ...], broken: tuple[float, ...]) -> None:
    assert [value for value in healthy if judge(Measure("x", value, unit, "gpu01"), limit)] == []
    assert [value for value in broken if not judge(Measure("x", value, unit, "gpu01"), limit)] == []


@pytest.mark.parametrize(("product", "value"), [(A100, 23), (H100, 46.1), (MI300X, 46.1), ("h100", 0)])
def test_a_gpus_model_decides_its_link(product: str, value: float) -> None:
    """The link that it came up with may be the fault."""
    limit = limits.gpu_copy(product)
    assert round(limit.value if isinstance(limit, Limit) else 0, 1) == value


def test_oracles_limit_excludes_mtu_1024_and_370_does_not() -> None:
    carries = {mtu: 400 * limits.wire_share(mtu) for mtu in (1024, 2048, 4096)}
    assert {mtu: round(rate, 1) for mtu, rate in carries.items()} == {1024: 370.3, 2048: 384.6, 4096: 392.1}
    assert 370 < carries[1024] < 384
    # so good a rail is rare, but possible: Drawbridge compares the path MTU too
    assert rail_bandwidth(400, 4096).value < carries[2048]
    assert [round(100 * limits.wire_share(mtu, INFINIBAND), 1) for mtu in (4096, 2048, 1024)] == [99.4, 98.7, 97.5]


@pytest.mark.parametrize(("netdev", "mtu"), [(9000, 4096), (4192, 4096), (4191, 2048), (1500, 1024), (352, 256)])
def test_the_kernel_keeps_room_for_headers(netdev: int, mtu: int) -> None:
    assert limits.roce_mtu(netdev) == mtu


@pytest.mark.parametrize(
    ("generation", "width", "rate"), [(3, 16, 15.8), (4, 16, 31.5), (5, 8, 31.5), (5, 16, 63.0), (6, 16, 121.0)]
)
def test_rates_of_pcie(generation: int, width: int, rate: float) -> None:
    assert limits.pcie_rate(generation, width) == pytest.approx(rate, abs=0.05)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: limits.roce_mtu(300),
        lambda: rail_bandwidth(400, 9000),
        lambda: rail_bandwidth(400, 4096, "iWARP"),
        lambda: rail_latency(0),
        lambda: limits.pcie_rate(9, 16),
        lambda: judge(Measure("rail bandwidth", 47.6, "GB/s", "gpu01"), rail_bandwidth(400, 4096)),
        *(lambda value=value: overridden(rail_latency(), value) for value in (0, -1, math.nan, math.inf)),
    ],
)
def test_values_that_no_hardware_has_are_refused(wrong) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        wrong()


def test_a_finding_is_one_sentence_and_a_small_miss_is_visible() -> None:
    found = judge(Measure("rail bandwidth", 380.36, "Gb/s", "gpu01 rail3 -> gpu02 rail3"), rail_bandwidth(400, 4096))
    assert isinstance(found, Finding)
    assert found.text == (
        "gpu01 rail3 -> gpu02 rail3: rail bandwidth is 380.36 Gb/s, below 380.38 Gb/s (0.97 x 98.0 % (4096-byte packets"
        " over RoCEv2) x 400 Gb/s); look at speed, PCIe width and MTU of both rails, then the cable and errors of the"
        " switch ports"
    )
    slow = judge(Measure("read bandwidth", 0.0096, "GB/s", "gpu01"), limits.file_system(0.01))
    assert slow and slow.fact.endswith(" is 0.0096 GB/s, below 0.01 GB/s (1 node x 0.01 GB/s of each (intent))")
    assert isinstance(limits.gpu_memory(MI300X), NoLimit)
    late = judge(Measure("unheard of", 5.1, "us", "gpu01"), rail_latency())
    assert late and not late.warning and late.text.startswith("gpu01: unheard of is 5.1 us, above 5 us (")
    assert late.text.endswith("; look at the same test with another partner")


@pytest.mark.parametrize(
    ("name", "word"),
    [
        *(("Copy in gpu memory", "ECC"), ("device_local_copy", "ECC"), ("host_to_device_memcpy_ce", "link_speed")),
        *(("device_to_host_memcpy_ce", "link_speed"), ("device_to_device_memcpy_read_ce", "links between")),
        *(("memory bandwidth", "modules"), ("all_reduce bus bandwidth", "NVLS"), ("read bandwidth", "the mount")),
        *(
            ("file creations of /mnt/copy", "the mount"),
            ("node bus bandwidth", "Fabric Manager"),
            ("copy to GPU", "link"),
        ),
        *(
            ("training", "script"),
            ("write operations", "the mount"),
            ("rail latency, read", "switches"),
            ("path MTU", "netdevs"),
        ),
    ],
)
def test_a_finding_names_the_next_thing_to_look_at(name: str, word: str) -> None:
    assert word in Finding(Measure(name, 1, "GB/s", "gpu01"), Limit(2, "GB/s", True, "why")).text.split("; look at ")[1]


def test_a_site_replaces_the_value_and_the_report_still_has_the_derived_one() -> None:
    limit = overridden(rail_latency(), 9)
    assert (limit.value, limit.unit, limit.at_least) == (9, "us", False)
    assert shown(limit) == f"at most 9 us: the site set it; derived: {shown(rail_latency())}"
    none = limits.gemm("NVIDIA L40S")
    assert isinstance(none, NoLimit)
    assert judge(Measure("GEMM", 1, "TFLOPS", "gpu01"), none) is None
    assert judge(Measure("GEMM", 1, "TFLOPS", "gpu01"), overridden(none, 250))


@pytest.mark.parametrize(("uplinks", "warned"), [(8, True), (16, False), (32, False)])
def test_a_leaf_with_fewer_uplinks_than_half_its_ports_is_named(uplinks: int, warned: bool) -> None:
    ratio = limits.oversubscription("leaf01", 32 * 400, uplinks * 400)
    assert isinstance(ratio, Measure)
    assert ratio.value == 32 / uplinks
    found = judge(ratio, limits.most_oversubscription())
    assert bool(found and found.warning) == warned


def test_a_leaf_without_uplinks_has_no_ratio() -> None:
    assert isinstance(limits.oversubscription("leaf01", 12800, 0), Missing)
