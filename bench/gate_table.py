# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables of bench/gate.py: the seed's scripts compared with the gate."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

SIDES = {"open": (("seed prolog",), ("open",)), "close": (("seed epilog",), ("end", "close"))}
"""What the seed does, and what the gate does in its place. That it brings the job's token as well is in no ratio."""
HOSTS = ("seed prolog", "deliver_token", "seed epilog", "close")
"""What runs on every node."""
WALL, CPU = 0.25, 0.05
"""Goals of the ratios."""
CROWD = 1.2
"""The same of a close beside what another job has left, over one without."""
HEAD = """# Opening and closing nodes

Made by `python -m bench.gate`; all hosts, the API server's too, share the machine's processors."""

Json = dict[str, Any]


def counted(part: Json, log: Iterable[Json]) -> Json:
    """A measure with its calls, those of them that wrote, and the nodes' among these."""
    mine = [event for event in log if part["since"] <= event["at"] <= part["until"]]
    wrote = [event for event in mine if is_write(event)]
    on_nodes = [event for event in wrote if event["objectRef"]["resource"] == "nodes"]
    return {**part, "calls": len(mine), "writes": len(wrote), "node_writes": len(on_nodes)}


def is_write(event: Json) -> bool:
    """Whether the request changed something; dry runs and refused requests did not."""
    asked = event["verb"] in ("create", "update", "patch", "delete") and "dryRun=All" not in event["requestURI"]
    return asked and event["responseStatus"]["code"] < 300


def summed(parts: Mapping[str, Json], chosen: Sequence[str]) -> Json:
    """Parts of one life that follow each other."""
    return {key: sum(parts[name][key] for name in chosen) for key in ("wall", "cpu", "calls", "writes", "node_writes")}


def compared(found: Sequence[Json]) -> Json:
    """By size and deed: seconds, CPU, calls of either side, and how many times less the gate takes."""
    table: Json = {}
    for size in sorted({life["size"] for life in found}):
        mine = [life["parts"] for life in found if life["size"] == size]
        row: Json = {"rounds": len(mine)}
        table[str(size)] = row
        for deed, sides in SIDES.items():
            seed, gate = ([summed(parts, side) for parts in mine] for side in sides)
            middle = {side: middles(measures) for side, measures in (("seed", seed), ("gate", gate))}
            ratios = {key: middle["gate"][key] / middle["seed"][key] for key in ("p50", "p99", "cpu", "calls")}
            row[deed] = {**middle, "ratios": ratios}
        row["deliver_token"] = middles([summed(parts, ("deliver_token",)) for parts in mine])
        row["of one host"] = {part: middle_of_each(mine, part) for part in HOSTS}
    return table


def middles(measures: Sequence[Json]) -> Json:
    """Of several lives."""
    walls = sorted(measure["wall"] for measure in measures)
    rest = {
        key: statistics.median(measure[key] for measure in measures)
        for key in ("cpu", "calls", "writes", "node_writes")
    }
    return {"p50": statistics.median(walls), "p99": walls[-1 - len(walls) // 100], **rest}


def middle_of_each(mine: Sequence[Mapping[str, Json]], part: str) -> Json:
    """Seconds of one process of those that run on every node."""
    each = sorted(seconds for parts in mine for seconds in parts[part]["each"])
    return {"p50": statistics.median(each), "p99": each[-1 - len(each) // 100]}


def grown(found: Sequence[Json]) -> Json:
    """Calls and bytes of one node's life, however many are registered."""
    mine = [life["parts"] for life in found if life["size"] == 1]
    both = {"open": ("open",), "close": ("end", "close")}
    return {
        f"{deed}_{key}": statistics.median(sum(parts[name][key] for name in chosen) for parts in mine)
        for deed, chosen in both.items()
        for key in ("calls", "bytes")
    }


def closed(found: Sequence[Json]) -> float:
    """Seconds to close one node."""
    return statistics.median(summed(life["parts"], ("end", "close"))["wall"] for life in found if life["size"] == 1)


def missed(table: Json, growth: Json, beside: Json) -> list[str]:
    """Sentences about goals that are missed."""
    found = []
    for size, row in table.items():
        for deed in SIDES:
            for key, goal in (("p50", WALL), ("cpu", CPU)):
                if (ratio := row[deed]["ratios"][key]) > goal:
                    found.append(f"to {deed} {size} takes {ratio:.2f} of the seed's {key}, the goal is {goal:g}")
            if deed == "open" and row[deed]["gate"]["node_writes"] != int(size):
                found.append(f"to open {size} takes {row[deed]['gate']['node_writes']:g} writes to nodes")
    for key in ("open_calls", "close_calls"):
        if len({row[key] for row in growth.values()}) > 1:
            found.append(f"{key} grow with the cluster: {[row[key] for row in growth.values()]}")
    if (ratio := beside["among others"] / beside["alone"]) > CROWD:
        found.append(f"to close one node beside 10,000 finished pods takes {ratio:.2f} times as long, not {CROWD:g}")
    return found


def page(table: Json, growth: Json, beside: Json) -> str:
    """The tables as Markdown."""
    return "\n\n".join((HEAD, _sizes(table), _hosts(table), _growth(growth), _beside(beside))) + "\n"


def _beside(beside: Json) -> str:
    alone, among = beside["alone"], beside["among others"]
    names = ["to close one node, s", "beside 10,000 finished pods and 10,000 ConfigMaps of another job", "ratio"]
    return _drawn(names, [[f"{alone:.2f}", f"{among:.2f}", f"{among / alone:.2f}"]])


def _sizes(table: Json) -> str:
    rows = []
    for size, row in table.items():
        for deed in SIDES:
            seed, gate, ratio = row[deed]["seed"], row[deed]["gate"], row[deed]["ratios"]
            seconds = [f"{side['p50']:.2f}, {side['p99']:.2f}" for side in (seed, gate)]
            cpu = [f"{side['cpu']:.2f}" for side in (seed, gate)]
            counts = [f"{side[key]:g}" for key in ("calls", "node_writes") for side in (seed, gate)]
            rows.append([size, deed, *seconds, f"{ratio['p50']:.2f}", *cpu, f"{ratio['cpu']:.3f}", *counts])
    names = ["nodes", "", "seed: s p50, p99", "gate", "ratio", "seed: CPU s", "gate", "ratio"]
    return _drawn([*names, "seed: API calls", "gate", "seed: writes to nodes", "gate"], rows)


def _hosts(table: Json) -> str:
    rows = [
        [size, *(f"{row['of one host'][part]['p50']:.2f}, {row['of one host'][part]['p99']:.2f}" for part in HOSTS)]
        for size, row in table.items()
    ]
    return _drawn(["nodes", "one host's prolog, seed: s p50, p99", "gate", "its epilog, seed", "gate"], rows)


def _growth(growth: Json) -> str:
    keys = ("open_calls", "open_bytes", "close_calls", "close_bytes")
    rows = [[registered, *(f"{row[key]:g}" for key in keys)] for registered, row in growth.items()]
    return _drawn(["nodes registered", "calls to open one", "bytes", "calls to close it", "bytes"], rows)


def _drawn(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
