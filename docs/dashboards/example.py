# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A made-up site for the pictures of dashboards, as OpenMetrics: recorded series with one planted cause.

A job on six nodes trains at 95 % of its GPUs. After 40 minutes rail 5 of gpu04 has a quarter of its PCIe lanes.
Its adapter takes packets more slowly and pauses its switch, whose queue grows and marks. All ranks wait for this rail.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator

NODES = tuple(f"gpu0{number}" for number in range(1, 9))
MINE, OTHERS = NODES[:6], NODES[6:]
RAILS = GPUS = tuple(str(number) for number in range(8))
JOB, OTHER_JOB = "4711", "4712"
SLOW_NODE, SLOW_RAIL = "gpu04", "5"
START, SECONDS, STEP = 1_767_603_600, 7200, 60
"""2026-01-05, 09:00 to 11:00 UTC."""
BROKEN = START + 2400
RATE, WRITES = 38e9, 20e9
EACH_CHECKPOINT = 1800
Labels = dict[str, str]
Value = Callable[[float], float]


def openmetrics() -> str:
    """All series as text for `promtool tsdb create-blocks-from openmetrics`."""
    lines: list[str] = []
    last = ""
    for name, labels, value in _series():
        if name != last:
            lines.append(f"# TYPE {name} gauge")
            last = name
        found = ",".join(f'{label}="{text}"' for label, text in labels.items())
        lines += [f"{name}{{{found}}} {value(at):.6g} {at}" for at in range(START, START + SECONDS + 1, STEP)]
    return "\n".join([*lines, "# EOF", ""])


def _noise(key: str, part: float) -> Value:
    """A factor near 1, the same in each run, that changes slowly."""
    dice = random.Random(key)
    waves = [(dice.uniform(60, 900), dice.uniform(0, 6.3)) for _ in range(4)]
    return lambda at: 1 + part * sum(math.sin(at / length + phase) for length, phase in waves) / 2


def _slowed(at: float) -> float:
    """What all ranks of the job do, as a part of what they could."""
    return 1.0 if at < BROKEN else 0.62


def _after(value: float, before: float = 0.0) -> Value:
    return lambda at: before if at < BROKEN else value


def _series() -> Iterator[tuple[str, Labels, Value]]:
    yield from _jobs()
    yield from _gpus()
    yield from _rails()
    yield from _ports()
    yield from _storage()


def _jobs() -> Iterator[tuple[str, Labels, Value]]:
    for job, user, nodes in ((JOB, "ann", MINE), (OTHER_JOB, "ben", OTHERS)):
        for node in nodes:
            labels = {"node": node, "job": job, "user": user, "account": "vision", "partition": "train"}
            yield "drawbridge:node_job", labels, lambda _: 1


def _each(name: str, labels: str, names: tuple[str, ...], value: Callable[[str, str], Value]) -> Iterator:
    for node in NODES:
        for each in names:
            yield name, {"node": node, labels: each}, value(node, each)


def _gpus() -> Iterator[tuple[str, Labels, Value]]:
    def pace(node: str, at: float) -> float:
        return _slowed(at) if node in MINE else 0.9

    def of(name: str, usual: float, part: float, idle: float = 0.0) -> Iterator:
        def value(node: str, gpu: str) -> Value:
            noise = _noise(f"{name}{node}{gpu}", part)
            return lambda at: (idle + (usual - idle) * pace(node, at)) * noise(at)

        return _each(f"drawbridge:gpu_{name}", "gpu", GPUS, value)

    yield from of("busy:ratio", 0.95, 0.02)
    yield from of("tensor_active:ratio", 0.42, 0.03)
    yield from of("memory_used:ratio", 0.83, 0.005, 0.83)
    yield from of("power:watts", 660, 0.02, 120)
    yield from of("temperature:celsius", 66, 0.01, 34)
    yield from of("nvlink:bytes_rate5m", 180e9, 0.03)


def _broken(node: str, rail: str) -> bool:
    return node == SLOW_NODE and rail == SLOW_RAIL


def _traffic(name: str) -> Iterator:
    def value(node: str, rail: str) -> Value:
        noise = _noise(f"{name}{node}{rail}", 0.015)
        rest = 0.32 if _broken(node, rail) else 1.0
        return lambda at: RATE * noise(at) * (_slowed(at) if node in MINE else 0.5) * (1 if at < BROKEN else rest)

    return _each(f"drawbridge:rail_{name}:bytes_rate5m", "rail", RAILS, value)


def _rails() -> Iterator[tuple[str, Labels, Value]]:
    def of(name: str, usual: float, on_slow_rail: float, at_the_node: float) -> Iterator:
        def value(node: str, rail: str) -> Value:
            noise = _noise(f"{name}{node}{rail}", 0.2)
            later = usual if rail != SLOW_RAIL or node in OTHERS else on_slow_rail
            later = at_the_node if _broken(node, rail) else later
            return lambda at: (usual if at < BROKEN else later) * noise(at)

        return _each(f"drawbridge:rail_{name}:rate5m", "rail", RAILS, value)

    yield from _each("drawbridge:rail_up:bool", "rail", RAILS, lambda *_: lambda _: 1)
    yield from _each("drawbridge:rail_speed:bytes", "rail", RAILS, lambda *_: lambda _: 50e9)
    yield from _each(
        "drawbridge:rail_pcie:ratio", "rail", RAILS, lambda node, rail: _after(0.25 if _broken(node, rail) else 1, 1)
    )
    yield from _each("node_network_up", "rail", RAILS, lambda *_: lambda _: 1)
    yield from _traffic("sent")
    yield from _traffic("received")
    yield from of("ecn_marked", 40, 60, 5200)
    yield from of("cnp_sent", 4, 6, 520)
    yield from of("cnp_handled", 4, 104, 10)
    yield from of("cnp_ignored", 0, 0, 0)
    yield from of("pause_sent", 0.2, 0.2, 2100)
    yield from of("pause_received", 0.3, 240, 6)
    yield from of("retransmits", 0.02, 0.02, 0.05)
    yield from of("discards", 0, 0, 0)


def _ports() -> Iterator[tuple[str, Labels, Value]]:
    def of(name: str, usual: float, on_slow_leaf: float, at_the_node: float) -> Iterator:
        for number, node in enumerate(NODES, 1):
            for rail in RAILS:
                noise = _noise(f"{name}{node}{rail}", 0.2)
                later = usual if rail != SLOW_RAIL or node in OTHERS else on_slow_leaf
                later = at_the_node if _broken(node, rail) else later
                labels = {"switch": f"leaf{rail}", "port": f"swp{number}", "node": node, "rail": rail, "priority": "3"}
                yield name, labels, lambda at, later=later, noise=noise: (usual if at < BROKEN else later) * noise(at)

    yield from of("drawbridge:port_pause_sent:rate5m", 0.3, 240, 6)
    yield from of("drawbridge:port_pause_received:rate5m", 0.2, 0.2, 2100)
    yield from of("drawbridge:port_ecn_marked:rate5m", 40, 60, 5200)
    yield from of("drawbridge:port_dropped:rate5m", 0, 0, 0)
    yield from of("drawbridge:port_storms:increase1h", 0, 0, 0)
    yield from of("drawbridge:port_queue:bytes", 2e4, 4e4, 9e5)
    for rail in RAILS:
        yield "drawbridge_switch_up", {"switch": f"leaf{rail}"}, lambda _: 1


def _storage() -> Iterator[tuple[str, Labels, Value]]:
    def checkpoint(at: float) -> float:
        return WRITES / len(MINE) if (at - START) % EACH_CHECKPOINT < 240 else 1e7

    def value(usual: float, name: str, node: str) -> Value:
        noise = _noise(f"{name}{node}", 0.1)
        return lambda at: usual * _slowed(at) * noise(at)

    for node in NODES:
        yield "drawbridge:storage_read:bytes_rate5m", {"node": node, "fs": "scratch"}, value(3e8, "read", node)
    for node in NODES:
        written = checkpoint if node in MINE else value(1e7, "write", node)
        yield "drawbridge:storage_write:bytes_rate5m", {"node": node, "fs": "scratch"}, written
    for node in NODES:
        for operation, usual in (("opens", 20.0), ("reads", 300.0), ("writes", 40.0), ("read_dir", 0.5)):
            labels = {"node": node, "fs": "scratch", "operation": operation}
            yield "drawbridge:storage_operations:rate5m", labels, value(usual, operation, node)
