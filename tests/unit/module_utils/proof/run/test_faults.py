# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of real sites in an emulated one: the proof names each one once, and places it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.table import CHECKS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import (
    FAILED,
    PROVED,
    ProofFinding,
    Result,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.progress import Progress

from .emulated import Emulated
from .emulated_site import FIRMWARE, NAMES, OLD_FIRMWARE, RAILS, STALE, Faults, cables, leaf_of, settings
from .pretended import Kept, proof

BY_UNIT, OPTIMISED = False, True
"""A leaf for each unit, and one for each rail of a unit."""


@dataclass(frozen=True)
class Named:
    """What a finding must say. `check` begins its name, `text` is a part of its sentence."""

    check: str
    kind: str
    nodes: tuple[str, ...]
    text: str
    rails: tuple[int, ...] = ()
    leaves: tuple[str, ...] = ()
    warning: bool = False

    def fits(self, it: ProofFinding) -> bool:
        """Whether it is this finding."""
        own = (self.kind, self.nodes, self.rails, self.leaves, self.warning)
        same = own == (it.kind, it.nodes, it.rails, it.leaves, it.warning)
        return same and it.check.startswith(self.check) and self.text in it.text


Plant = Callable[[Faults, str, int, bool], Named]
"""Plants a fault at a node's rail or GPU, and says how it is named."""


def cable(text: str, **own: Any) -> Plant:
    """A fault of one rail, which the fabric's tests find."""

    def plant(faults: Faults, node: str, at: int, optimised: bool) -> Named:
        faults.host(node, "rails")[f"rail{at}"] = own
        return Named("fabric", "cable", (node,), text, (at,), (leaf_of(node, at, optimised),))

    return plant


def switch_port(text: str, **own: Any) -> Plant:
    """A line of a switch that is wrong for one port."""

    def plant(faults: Faults, node: str, at: int, optimised: bool) -> Named:
        faults.ports[cables(optimised)[0][node, at]] = own
        return Named("fabric", "cable", (node,), text, (at,), (leaf_of(node, at, optimised),))

    return plant


def rail(check: str, text: str, **own: Any) -> Plant:
    """A fault of one rail that its node shows."""

    def plant(faults: Faults, node: str, at: int, optimised: bool) -> Named:
        faults.host(node, "rails")[f"rail{at}"] = own
        return Named(check, "remark", (node,), f"{node} rail{at}: {text.format(at)}", (at,))

    return plant


def gpu(check: str, text: str, kind: str = "remark", **own: Any) -> Plant:
    """A fault of one GPU."""

    def plant(faults: Faults, node: str, at: int, optimised: bool) -> Named:
        faults.host(node, "gpus")[str(at)] = own
        return Named(check, kind, (node,), f"{node} GPU {at}: {text}")

    return plant


def node(check: str, kind: str, text: str, **own: Any) -> Plant:
    """A fault of a node as a whole."""

    def plant(faults: Faults, name: str, at: int, optimised: bool) -> Named:
        faults.hosts.setdefault(name, {}).update(own)
        return Named(check, kind, (name,), text)

    return plant


def shared(text: str, kind: str = "missing", **own: Any) -> Plant:
    """A fault of a shared file system at one node: the sample of its class meets it, or all nodes together."""
    return node("file systems", kind, text, **own)


def missing_gpu(faults: Faults, name: str, at: int, optimised: bool) -> Named:
    """Its last words are in the kernel's log."""
    faults.hosts.setdefault(name, {})["missing"] = [at]
    faults.host(name, "gpus")[str(at)] = {"xid": 79}
    return Named("GPUs present", "remark", (name,), f"{name}: GPUs present: the driver has 7 GPUs of 8")


def firmware(faults: Faults, name: str, at: int, optimised: bool) -> Named:
    """A NIC with another firmware than those of other nodes."""
    faults.host(name, "firmware")[f"mlx5_{at}"] = OLD_FIRMWARE
    text = f"{name}: firmware of mlx5_{at} is {OLD_FIRMWARE}, but {FIRMWARE} on 7 of 8 nodes"
    return Named("versions", "remark", (name,), text, (at,), warning=True)


def swapped(faults: Faults, name: str, at: int, optimised: bool) -> Named:
    """Two cables of a node are exchanged."""
    first, second = both = tuple(sorted((at, (at + 3) % RAILS)))
    ends = cables(optimised)[0]
    faults.plugged.update({(name, first): ends[name, second], (name, second): ends[name, first]})
    leaves = tuple(leaf_of(name, it, optimised) for it in both)
    return Named("fabric", "swapped cables", (name,), f"rail{first} and rail{second} are swapped", both, leaves)


def path(both: bool) -> Plant:
    """A slow path from the leaf of one unit to that of the other, or in both directions."""

    def plant(faults: Faults, name: str, at: int, optimised: bool) -> Named:
        peer = NAMES[NAMES.index(name) - 4]
        leaves = (leaf_of(name, at, optimised), leaf_of(peer, at, optimised))
        faults.slow[">".join(leaves)] = 50
        if both:
            faults.slow[">".join(leaves[::-1])] = 50
            leaves = tuple(sorted(leaves))  # type: ignore[assignment]
        return Named("fabric", "leaf pair" if both else "path", (), "is slow", (), leaves)

    return plant


HOT = {
    "xml": {"clocks_event_reason_hw_slowdown": "Not Active", "clocks_event_reason_hw_thermal_slowdown": "Not Active"}
}
FAULTS: dict[str, Plant] = {
    "slow cable": cable("below 380.4 Gb/s", percent=60),
    "damaged cable": cable("below 380.4 Gb/s", percent=93),
    "dead rail": cable("", dead=True),
    "dead port": rail("rail link", "rail link: rail{} is down", up=False),
    "lossy class": cable("", priority=0, lossless=False),
    "lossy class at the switch": switch_port("", lossless=[]),
    "MTU mismatch": rail("rail MTU", "rail MTU: rail{} has an MTU of 1500, the intent says 9000", mtu=1500),
    "MTU mismatch at the switch": switch_port("a hop has a smaller MTU", mtu=1500),
    "asymmetric path": path(both=False),
    "slow leaf pair": path(both=True),
    "swapped cables": swapped,
    "missing GPU": missing_gpu,
    "NVLink down": gpu("GPU link state", "GPU link state: links 0, 1, 2, 3, 4, 5 are down", links_down=6),
    "NVLS off": node("GPU links", "remark", "NVLS inactive", nvls=False),
    "throttled GPU": gpu("GPU clocks", "GPU clocks: clocks are lowered: hw slowdown, hw thermal", percent=70),
    "GPU that throttles under load": gpu("GPU copies", "copy ", "limit", percent=70, **HOT),
    "GPU with half a link": gpu("GPU PCIe", "GPU PCIe: its link has Gen5 x8, the GPU has Gen5 x16", pcie=[5, 8]),
    "stale mount": shared("Stale file handle", mounts={"/gpfs/fs1": STALE}),
    "lost mount": shared("it is on ext4 (/dev/vda1), and not on gpfs", mounts={"/gpfs/fs1": "ext4"}),
    "slow file system": shared("bandwidth of /gpfs/fs1 is ", "limit", disks={"/gpfs/fs1": 40}),
    "slow disk": node("local disks", "limit", "", disks={"/scratch": 40}),
    "slow memory": node("memory bandwidth", "limit", "", memory_percent=50),
    "ECC errors": gpu(
        "GPU memory errors", "GPU memory errors: 3 uncorrected errors", xml={"dram_uncorrectable": "3"}, xid=48
    ),
    "wrong firmware": firmware,
}


class Forgotten(Kept):
    """Records of a proof that no test interrupts."""

    def save(self, progress: Progress) -> None:
        pass

    def keep(self, result: Result) -> Path:
        return Path()


def prove(faults: Faults, optimised: bool, seed: int = 0) -> Result:
    with Emulated(faults, optimised, seed) as slurm:
        campaign = proof(settings(optimised), slurm, Forgotten(slurm))
        campaign.checks = CHECKS
        return campaign.run(NAMES)


def told(result: Result) -> str:
    """All findings, for a test that fails."""
    return "\n".join(f"{it.check}/{it.kind} {it.rails} {it.leaves}: {it.text}" for it in result.findings)


def judge(result: Result, *expected: Named) -> None:
    """Each fault is named once, and nothing else is. Its nodes failed, unless it is a warning."""
    assert len(result.findings) == len(expected), told(result)
    for one in expected:
        assert any(map(one.fits, result.findings)), f"{one} is not in\n{told(result)}"
    failed = {name for one in expected if not one.warning for name in one.nodes}
    assert {it.name: it.verdict for it in result.nodes} == {it: FAILED if it in failed else PROVED for it in NAMES}
    assert result.complete
    assert result.passed == all(one.warning for one in expected)


LAYOUTS = (BY_UNIT, OPTIMISED)
CASES = [(name, layout) for name in FAULTS for layout in LAYOUTS if name != "swapped cables" or layout]


@pytest.mark.parametrize(("name", "optimised"), CASES)
def test_each_fault_is_named_once_and_placed(name: str, optimised: bool) -> None:
    luck, faults = random.Random(f"{name} {optimised}"), Faults()
    expected = FAULTS[name](faults, luck.choice(NAMES), luck.randrange(RAILS), optimised)
    judge(prove(faults, optimised), expected)


PAIRS = (*range(40), 140, 226)
"""The last two were named wrongly once."""


@pytest.mark.parametrize("seed", PAIRS)
def test_two_faults_at_once(seed: int) -> None:
    luck, faults = random.Random(seed), Faults()
    optimised = luck.random() < 0.5
    of_layout = [name for name, layout in CASES if layout == optimised]
    nodes = sorted(luck.sample(NAMES, 2), reverse=True)
    expected = [
        FAULTS[name](faults, it, luck.randrange(RAILS), optimised) for name, it in zip(luck.sample(of_layout, 2), nodes)
    ]
    judge(prove(faults, optimised, seed), *expected)


@pytest.mark.parametrize("seed", range(20))
def test_noise_names_nothing(seed: int) -> None:
    judge(prove(Faults(), seed % 2 == 1, seed))


def test_two_cables_in_wrong_leaves_are_not_swapped() -> None:
    """Their latency is that of swapped ones, but a crossing of the two rails stays in no leaf."""
    faults, ends = Faults(), cables(OPTIMISED)[0]
    faults.plugged.update({("gpu02", 1): ends["gpu02", 6], ("gpu02", 4): ends["gpu02", 7]})
    leaves = [leaf_of("gpu02", at, OPTIMISED) for at in (1, 4)]
    expected = [Named("fabric", "cable", ("gpu02",), "us, above ", (at,), (leaf,)) for at, leaf in zip((1, 4), leaves)]
    judge(prove(faults, OPTIMISED), *expected)
