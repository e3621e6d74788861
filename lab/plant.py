# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Hardware faults for measuring tools to find: a slow cable, a throttled GPU, a slow path between two leaves."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lab.emulators.common import Device
from lab.emulators.proof.traffic import EMPTY, NAME
from lab.errors import LabError
from lab.hosts.paths import Paths
from lab.hosts.site import Site

State = dict[str, Any]
RAIL, GPU, PERCENT, GENERATION, COUNT, LEAF = (
    r"rail[0-7]",
    r"[0-7]",
    r"[1-9][0-9]?",
    r"[345]",
    r"[1-9][0-9]?",
    r"leaf\d+",
)


@dataclass(frozen=True)
class Fault:
    """One kind of fault: patterns of its words, and what it does to the state of the host's measuring tools."""

    words: tuple[str, ...]
    example: str
    do: Callable[..., None]


def _rail(state: State, rail: str, **what: object) -> None:
    state.setdefault("rails", {}).setdefault(rail, {}).update(what)


def _gpu(state: State, gpu: str, **what: object) -> None:
    state.setdefault("gpus", {}).setdefault(gpu, {}).update(what)


FAULTS = {
    "slow-cable": Fault((RAIL, PERCENT), "rail3 60", lambda s, rail, n: _rail(s, rail, percent=int(n))),
    "dead-rail": Fault((RAIL,), "rail3", lambda s, rail: _rail(s, rail, dead=True)),
    "slow-rail-pcie": Fault((RAIL, GENERATION), "rail3 4", lambda s, rail, n: _rail(s, rail, pcie=[int(n), 16])),
    "slow-gpu-pcie": Fault((GPU, GENERATION), "2 4", lambda s, gpu, n: _gpu(s, gpu, pcie=[int(n), 16])),
    "throttled-gpu": Fault((GPU, PERCENT), "2 70", lambda s, gpu, n: _gpu(s, gpu, percent=int(n))),
    "nvlinks-down": Fault((GPU, COUNT), "2 6", lambda s, gpu, n: _gpu(s, gpu, links_down=min(17, int(n)))),
    "memory-errors": Fault((GPU, COUNT), "2 3", lambda s, gpu, n: _gpu(s, gpu, xid=48, xml={"dram_uncorrectable": n})),
    "xid": Fault((GPU, COUNT), "2 79", lambda s, gpu, n: _gpu(s, gpu, xid=int(n))),
    "nvls-off": Fault((), "", lambda s: s.update(nvls=False)),
    "missing-gpu": Fault((GPU,), "2", lambda s, gpu: s.update(missing=sorted({*s.get("missing", []), int(gpu)}))),
    "slow-memory": Fault((PERCENT,), "50", lambda s, n: s.update(memory_percent=int(n))),
    "seed": Fault((r"\d{1,9}",), "7", lambda s, n: s.update(seed=int(n), runs={})),
}
"""By name; `seed` chooses the noise of all measurements of a host."""
SWAPPED, SLOW_PATH = "swapped-cables", "slow-path"
EVERY = {
    **{name: fault.example for name, fault in FAULTS.items()},
    **{SWAPPED: "rail3 rail4", SLOW_PATH: "leaf2 40 (NAME is a leaf)"},
}


def plant(site: Site, paths: Paths, name: str, kind: str, words: Sequence[str]) -> None:
    """Plant a fault on a host, or a slow path from a leaf; LabError for a kind or words that do not exist."""
    site.select([name])
    if kind not in EVERY:
        raise LabError(f"{kind} can't be planted: use one of {', '.join(EVERY)}")
    shapes = {SWAPPED: (RAIL, RAIL), SLOW_PATH: (LEAF, PERCENT)}.get(kind) or FAULTS[kind].words
    if len(words) != len(shapes) or not all(map(re.fullmatch, shapes, words)):
        raise LabError(f"{kind} takes other words: lab plant NAME {kind} {EVERY[kind]}")
    if (name in site.switches) != (kind == SLOW_PATH):
        raise LabError(f"{name} is no {'leaf' if kind == SLOW_PATH else 'host'}: lab plant NAME {kind} {EVERY[kind]}")
    if kind == SLOW_PATH:
        with Device(paths.shared / NAME).state(EMPTY) as state:
            state["slow"][f"{name}>{words[0]}"] = int(words[1])
    elif kind == SWAPPED:
        _swap(site, paths, name, words)
    else:
        with Device(paths.host(name).emulators / "proof").state() as state:
            FAULTS[kind].do(state, *words)


def _swap(site: Site, paths: Paths, name: str, rails: Sequence[str]) -> None:
    ends = {inside: [switch, site.switches[switch].port(port)] for switch, port, inside in site.hosts[name].cables()}
    with Device(paths.host(name).emulators / "lldpctl").state({"neighbours": {}}) as state:
        state["neighbours"].update({mine: ends[other] for mine, other in (rails, rails[::-1])})


def clear(paths: Paths) -> None:
    """Repair all that was planted; seeds go, too."""
    for folder in paths.state.glob("hosts/*/emu"):
        for name in ("proof", "lldpctl"):
            if (folder / name).is_dir():
                with Device(folder / name).state() as state:
                    state.clear()
                    state.update({"neighbours": {}} if name == "lldpctl" else {})
    with Device(paths.shared / NAME).state(EMPTY) as state:
        state["slow"] = {}
