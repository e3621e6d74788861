# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""24 hours of a healthy site with 256 nodes: busy tools, growing counters, jobs and people. Nothing is drained.

All nodes look at themselves every 5 minutes, and the controller decides every 30 seconds. A look with noise is run once
for each kind of noise. Counters of some nodes are judged at each of their looks.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import Finding
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node import look
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.rows import HEALTH, checks_at
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks import collect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import Output
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.watch_rates import (
    COUNTERS,
    sample,
)

from tests.unit.module_utils.health.emulated_node import NODE, TEXTS, UPTIME, EmulatedNode
from tests.unit.module_utils.health.planted import ACTIVE, DOWN, gpu
from tests.unit.module_utils.health.simulated import PERSON, Controller, site
from tests.unit.module_utils.proof.checks import healthy
from tests.unit.module_utils.proof.checks.healthy import CHRONY, DF, DMESG, NVLINK, OUTPUTS, SMI

UNITS, OF_UNIT, STEP_S, LOOK_S, DAY_S = 8, 32, 30, 300, 86400
NOISY, BUSY = 0.02, 0.5
"""Shares of looks with noise, and of steps in which a job starts or ends."""
LATE, CUT = Output("", "", 124), str(OUTPUTS[SMI])[:4000]
MODULE = ("ethtool", "-m", "rail0")
LEAK = "MemTotal: 2113405212 kB\nMemAvailable: 1000000 kB\n"
JOB = {"/proc/700/comm": "slurmstepd\n", "/proc/700/cgroup": "0::/system.slice/slurmstepd.scope/job_7/step_0\n"}
Noise = Callable[[EmulatedNode], None]


def late(argv: tuple[str, ...], answer: str | Output = LATE) -> Noise:
    """A tool that answers at the second try only."""
    return lambda node: node.said.update({argv: [answer, str(node.said[argv])]})


def once(**texts: str | None) -> Noise:
    """Files that the first try reads like this; None: not at all."""
    return lambda node: node.first.update(texts)


def blip(element: str, old: str, new: str) -> Noise:
    """A value of GPU 1 that only the first try sees."""

    def plant(node: EmulatedNode) -> None:
        before = str(node.said[SMI])
        gpu(element, old, new)(node)
        node.said[SMI] = [str(node.said[SMI]), before]

    return plant


def hot(number: int) -> str:
    """What the driver says while this GPU is hot."""
    parts = str(OUTPUTS[SMI]).split(f"<{ACTIVE}>Not Active")
    return parts[0] + "".join(
        f"<{ACTIVE}>{'Active' if at == number else 'Not Active'}{part}" for at, part in enumerate(parts[1:])
    )


def log(line: str) -> Noise:
    """A line of the kernel's log, which stays."""
    return lambda node: node.said.update({DMESG: f"{node.said[DMESG]}[ 9001.2] {line}\n"})


NOISES: dict[str, Noise] = {
    "a busy driver": late(SMI),
    "a driver that is cut off": late(SMI, CUT),
    "a GPU that is lost for a moment": late(SMI, healthy.xml(1)),
    "an error of the driver": late(SMI, Output("Unknown Error", "", 255)),
    "a GPU that is hot for a moment": blip(ACTIVE, "Not Active", "Active"),
    "two GPUs that are hot in turn": lambda node: node.said.update({SMI: [hot(1), hot(0), str(node.said[SMI])]}),
    "links that are read late": late(NVLINK),
    "a module on a slow bus": late(MODULE),
    "a module that was not read": late(MODULE, Output("", "netlink error: Input/output error", 1)),
    "a slow file system": late(DF),
    "a clock that is just set": late(CHRONY, str(OUTPUTS[CHRONY]).replace(",0.000006523,", ",-3.500000000,")),
    "a log that is read late": late(DMESG),
    "a job's fault in the log": log("NVRM: Xid (PCI:0000:1c:00): 31, pid=7, name=python3, MMU Fault"),
    "a link's error in the log": log("NVRM: Xid (PCI:0000:1c:00): 74, pid='<unknown>', NVLink: fatal error"),
    "a link that is down for a moment": once(**DOWN),
    "a file that can't be read": once(**{"/sys/class/net/rail1/mtu": None}),
    "an address that is just set": once(**{f"/sys/class/infiniband/mlx5_1/ports/1/gids/{at}": None for at in range(5)}),
    "memory of a job": lambda node: node.texts.update({"/proc/meminfo": LEAK, **JOB}),
    "a reader that is late": lambda node: setattr(node, "unread", True),
}


@functools.cache
def found(noise: str) -> tuple[Finding, ...]:
    """What a look with this noise finds."""
    node = EmulatedNode()
    NOISES[noise](node)
    return node.look()


@pytest.mark.parametrize("noise", NOISES)
def test_noise_is_seen_and_is_no_finding(noise: str) -> None:
    node = EmulatedNode()
    healthy_calls = len(node.look() or node.calls)
    NOISES[noise](node)
    assert node.look() == found(noise) == ()
    lasting = ("a job's fault in the log", "a link's error in the log", "memory of a job")
    assert len(node.calls) > healthy_calls or noise in lasting or node.reads > 1


OF_PORTS = [check for check in checks_at(HEALTH) if check.name in ("rail errors", "rail drops", "rail rates")]


class Ports:
    """Counters of a healthy node's rails, and how they grow in a day."""

    def __init__(self, luck: random.Random) -> None:
        self._luck, self._texts = luck, dict(TEXTS)
        self._at = luck.uniform(3600.0, 60 * 86400.0)
        hours = int(self._at / 3600)
        self._symbols = {rail.netdev: luck.randrange(9000) + 100 * hours for rail in NODE.rails}
        self._flaps = set(luck.sample(range(DAY_S // LOOK_S), 2))
        self._looks = 0

    def look(self) -> look.Look:
        """Grow, and look."""
        self._grow()
        programs = collect.programs(OF_PORTS, NODE)
        ran = [(one, Output(self._said(look.words(one)), "", 0)) for one in programs]
        seen = look.look(NODE, OF_PORTS, ran, look.Files(self._texts))
        self._texts[COUNTERS] = sample(self._texts)
        return seen

    def _grow(self) -> None:
        self._looks += 1
        self._at += LOOK_S + self._luck.uniform(-20.0, 20.0)
        self._texts[UPTIME] = f"{self._at:.2f} 9.9\n"
        for rail in NODE.rails:
            port, net = f"/sys/class/infiniband/{rail.rdma}/ports/1", f"/sys/class/net/{rail.netdev}"
            self._symbols[rail.netdev] += self._luck.randrange(0, 8)
            self._add(f"{port}/counters/symbol_error", self._luck.randrange(0, 8))
            self._add(f"{port}/counters/port_rcv_errors", self._luck.randrange(0, 8))
            self._add(f"{port}/counters/link_error_recovery", self._luck.randrange(0, 3))
            # a peer's switch starts again
            self._add(f"{net}/carrier_changes", 2 * (self._looks in self._flaps))

    def _add(self, path: str, more: int) -> None:
        self._texts[path] = f"{int(self._texts.get(path, '0')) + more}\n"

    def _said(self, argv: tuple[str, ...]) -> str:
        text = str(OUTPUTS[argv])
        return text.replace("rx_pcs_symbol_err_phy: 311", f"rx_pcs_symbol_err_phy: {self._symbols[argv[-1]]}")


@pytest.mark.parametrize("seed", range(4))
def test_counters_of_healthy_ports_grow_without_a_finding(seed: int) -> None:
    ports = Ports(random.Random(seed))
    looks = [ports.look() for _look in range(DAY_S // LOOK_S)]
    assert [it.noted for it in looks if it.noted] == []


class Day:
    """A site whose nodes look at themselves, run jobs, and are serviced by people."""

    def __init__(self, luck: random.Random) -> None:
        self.site, self._luck = site([OF_UNIT] * UNITS), luck
        self.looks = self.noisy = self.decisions = 0
        self._names = [*self.site.slurm.records]
        self._end = self.site.slurm.now + DAY_S

    def run(self) -> Controller:
        for step in range(DAY_S // STEP_S):
            self.site.slurm.now = self._end - DAY_S + step * STEP_S
            before = dict(self.site.slurm.records)
            for name in self._names[step % 10 :: LOOK_S // STEP_S]:
                self._look(name)
            for event in self._events(step):
                event()
            if before != self.site.slurm.records or not step:
                self.decisions += 1
                self.site.look()
        return self.site

    def _look(self, name: str) -> None:
        self.looks += 1
        if self._luck.random() < NOISY:
            self.noisy += 1
            self.site.report(name, *found(self._luck.choice(list(NOISES))))

    def _events(self, step: int) -> Iterator[Callable[[], None]]:
        if self._luck.random() < BUSY:
            yield functools.partial(self._job, self._luck.choice(self._names))
        if step % 120 == 7:
            yield functools.partial(self._service, self._names[step // 120 * 5])
        if step % 240 == 9:
            yield functools.partial(self._silence, self._names[128 + step // 240 * 9])

    def _job(self, name: str) -> None:
        """A job starts, or ends, or its epilog does."""
        slurm, own = self.site.slurm, self.site.slurm.records[name]
        if own.state == "ALLOCATED" and "COMPLETING" in own.flags:
            slurm.change(name, (), {"COMPLETING"}, state="IDLE")
        elif own.state == "ALLOCATED":
            slurm.change(name, {"COMPLETING"})
        elif own.available:
            slurm.change(name, state="ALLOCATED")

    def _service(self, name: str) -> None:
        """A person drains a node, or ends that."""
        self.site.slurm.drain(name, "new fan", PERSON)

    def _silence(self, name: str) -> None:
        """A node loses its network for a while."""
        self.site.slurm.lose(name)
        self.site.slurm.register(name)


def test_a_day_of_noise_finds_and_drains_nothing() -> None:
    day = Day(random.Random(51))
    controller = day.run()
    assert day.looks == UNITS * OF_UNIT * DAY_S // LOOK_S and day.noisy > 1000 and day.decisions > 1000
    assert controller.acts == [] and not controller.memory.opened
    assert not any(it.comment for it in controller.slurm.records.values())
    drained = [it for it in controller.slurm.records.values() if not it.available]
    assert len(drained) == 24 and {(it.by, it.reason) for it in drained} == {(PERSON, "new fan")}
