# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import Mig, MigException
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.describe_difference import (
    differences,
    folded,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load

from tests.unit.module_utils.site.test_describe_view import GROUPS, intent, lab_hosts
from tests.unit.module_utils.site.test_describe_view import folder as written
from tests.unit.module_utils.site.test_refused import site

H100 = "drawbridge_nodes.classes.h100"


def nodes() -> dict[str, Any]:
    return {name: facts for name, facts in lab_hosts().items() if name != "ctl"}


def lab() -> Any:
    return load(site("lab"))


def test_the_lab_does_not_differ_from_its_own_intent() -> None:
    assert differences(lab(), nodes()) == []
    assert differences(load(intent(written(lab_hosts(), GROUPS, {}))), nodes()) == []


@pytest.mark.parametrize(
    ("plant", "key", "wanted", "found"),
    [
        (
            lambda it: it["neighbours"].update(rail0=["leaf2", "Ethernet1"]),
            "cable of rail0",
            "leaf1",
            "leaf2 Ethernet1",
        ),
        (lambda it: it["gpus"][0].update(numa=1), f"{H100}.gpus.numa[0]", 0, "1 (GPU at 0000:0b:00.0)"),
        (lambda it: it["nics"][2].update(rdma="rocep1"), f"{H100}.nics.rdma of rail2", "mlx5_2", "rocep1"),
        (lambda it: it["nics"][2].update(numa=1), f"{H100}.nics.numa of rail2", 0, 1),
        (lambda it: it["nics"][2].update(device="15b3:101d"), f"{H100}.nics.device of rail2", "15b3:1021", "15b3:101d"),
        (lambda it: it["nics"].pop(), f"{H100}.nics.netdev", "rail7", "no RDMA port of this name"),
        (lambda it: [gpu.update(vendor="amd") for gpu in it["gpus"]], f"{H100}.gpus.vendor", "nvidia", "amd"),
        (lambda it: it["gpus"].pop(), f"{H100}.gpus", "8 GPUs", 7),
        (
            lambda it: it["gpus"][2].update(instances={"3g.40gb": 2}),
            f"{H100}.gpus.mig",
            "{} on GPU 2",
            {"3g.40gb": 2},
        ),
        (lambda it: it.update(memory_mib=1032192), f"{H100}.memory_mib", 2064384, 1032192),
        (lambda it: it.update(cpus={**it["cpus"], "sockets": 1}), f"{H100}.sockets", 2, 1),
        (lambda it: it.update(cpus={**it["cpus"], "numa_without_cpus": "2-3"}), f"{H100}.numa_without_cpus", "", "2-3"),
        (lambda it: it.update(cpus={**it["cpus"], "numa_without_memory": "1"}), f"{H100}.numa_without_memory", "", "1"),
        (
            lambda it: it.update(cpus={**it["cpus"], "cpu_numbering": "apart"}),
            f"{H100}.cpu_numbering",
            "together",
            "apart",
        ),
        (
            lambda it: [gpu.update(minor=(place + 4) % 8) for place, gpu in enumerate(it["gpus"])],
            f"{H100}.gpus.minors",
            [0, 1, 2, 3, 4, 5, 6, 7],
            [4, 5, 6, 7, 0, 1, 2, 3],
        ),
    ],
)
def test_a_planted_fault_is_named(plant: Callable[[Any], object], key: str, wanted: Any, found: Any) -> None:
    hosts = nodes()
    plant(hosts["gpu01"])
    (one,) = differences(lab(), hosts)
    assert (one.host, one.key, one.wanted, one.found) == ("gpu01", key, wanted, found)


def test_cabling_compares_ports_too() -> None:
    hosts = nodes()
    near = hosts["gpu01"]["neighbours"]
    near["rail0"], near["rail1"] = near["rail1"], near["rail0"]
    whole = load(intent(written(lab_hosts(), GROUPS, {})))
    assert [(one.key, one.wanted) for one in differences(whole, hosts)] == [
        ("cable of rail0", "leaf1 Ethernet1"),
        ("cable of rail1", "leaf1 Ethernet2"),
    ]


def test_unknown_is_no_difference() -> None:
    hosts = nodes()
    hosts["gpu01"].update(cpus={}, memory_mib=0, neighbours={})
    hosts["gpu01"]["gpus"][0]["numa"] = -1
    assert differences(lab(), hosts) == []


def test_a_host_without_a_range_is_named() -> None:
    hosts = {"gpu99": nodes()["gpu01"]}
    assert [one.key for one in differences(lab(), hosts)] == ["drawbridge_nodes.ranges"]


def test_the_same_of_many_hosts_is_one_sentence() -> None:
    hosts = nodes()
    for name in ("gpu01", "gpu02"):
        hosts[name]["memory_mib"] = 1032192
    assert folded(differences(lab(), hosts)) == [
        f"gpu[01-02]: {H100}.memory_mib is 2064384, but the host has 1032192; repair the host, or correct {H100}"
    ]


def test_another_way_to_write_the_same_numbering_is_no_difference() -> None:
    hosts = nodes()
    assert hosts["gpu01"]["cpus"]["cpu_numbering"] == "together"
    hosts["gpu01"]["cpus"] = {**hosts["gpu01"]["cpus"], "cpu_numbering": "0-126:1/2,1-127:1/2"}
    assert differences(lab(), hosts) == []
    built = lab()
    some = replace(built.nodes.classes["h100"], l3_caches=4)
    built = replace(built, nodes=replace(built.nodes, classes={"h100": some}))
    assert {one.key for one in differences(built, hosts)} == {f"{H100}.l3_caches"}, "given caches are compared"


def test_lost_instances_are_a_difference_unless_the_tool_is_missing() -> None:
    hosts, built = {"gpu01": nodes()["gpu01"]}, lab()
    gpus = replace(built.nodes.classes["h100"].gpus, mig=Mig({}, (MigException((7,), {"7g.80gb": 1}),)))
    classes = {"h100": replace(built.nodes.classes["h100"], gpus=gpus)}
    built = replace(built, nodes=replace(built.nodes, classes=classes))
    assert [(one.key, one.wanted) for one in differences(built, hosts)] == [
        (f"{H100}.gpus.mig", "{'7g.80gb': 1} on GPU 7")
    ]
    for gpu in hosts["gpu01"]["gpus"]:
        gpu["name"] = ""
    assert differences(built, hosts) == []


def test_gpus_without_jobs_are_counted_and_not_compared() -> None:
    """A display's GPU is the first on the bus."""
    display = {"pci": "0000:01:00.0", "name": "NVIDIA DGX Display", "vendor": "nvidia", "numa": 0, "minor": 8}
    hosts = nodes()
    hosts["gpu01"]["gpus"] = [display, *hosts["gpu01"]["gpus"]]
    assert [one.key for one in differences(lab(), hosts)] == [f"{H100}.gpus"]
    built = lab()
    gpus = replace(built.nodes.classes["h100"].gpus, minors=(0, 1, 2, 3, 4, 5, 6, 7), others=1)
    classes = {"h100": replace(built.nodes.classes["h100"], gpus=gpus)}
    built = replace(built, nodes=replace(built.nodes, classes=classes))
    assert differences(built, {"gpu01": hosts["gpu01"]}) == []
    assert [one.key for one in differences(built, {"gpu02": hosts["gpu02"]})] == [f"{H100}.gpus"]
