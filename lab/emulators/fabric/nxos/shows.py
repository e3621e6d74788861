# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the show commands print. Layouts: public captures of running configurations and of PFC tables."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lab.emulators.fabric.cli import tree
from lab.emulators.fabric.cli.shows import Answer, Question, Shows
from lab.emulators.fabric.nxos.counters import COUNTERS
from lab.emulators.fabric.nxos.language import NXOS, attached

if TYPE_CHECKING:
    from lab.emulators.fabric.switch import State

VERSION = "10.3(8)"
RULE = "=" * 60
PFC = "priority-flow-control mode "


def running(question: Question) -> Answer:
    """`show running-config`, with the times that only it has."""
    state = question.state
    head = [f"!Running configuration last done at: {_stamp(state['last_change'])}"]
    return _configuration(question, "running", head)


def startup(question: Question) -> Answer:
    """`show startup-config`."""
    return _configuration(question, "startup", [])


def _configuration(question: Question, which: str, head: list[str]) -> Answer:
    lines = NXOS.render(question.state[which] or tree.empty())
    times = [f"!Command: show {which}-config", *head, f"!Time: {_stamp(question.now)}"]
    return Answer("\n".join(["", *times, "", f"version {version(question.state)} Bios:version 01.05", *lines]))


def version(state: State) -> str:
    """Return the release that the switch runs."""
    return state.get("version", VERSION)


def pfc(question: Question) -> Answer:
    """`show interface priority-flow-control`: the mode as configured, and what works, as a bitmap of CoS values."""
    config = question.state["running"]
    rows = [RULE, "Port               Mode Oper(VL bmap)  RxPPP      TxPPP     ", RULE, ""]
    bits = sum(1 << cos for cos in _paused(config))
    for port in sorted(question.state["ports"], key=tree.natural):
        mode = next(tree.values(tree.block(config, f"interface {port}") or tree.empty(), PFC), "auto")
        works = f"On  ({bits:x})" if mode == "on" else "Off"
        rows.append(f"{port:<19}{mode.capitalize():<5}{works:<14}{0:<11}{0}")
    return Answer("\n".join(rows))


def _paused(config: tree.Node) -> list[int]:
    """Return the CoS values that the policy in force doesn't drop."""
    policy = attached(tree.block(config, "system qos") or tree.empty(), "network-qos")
    classes = (tree.block(config, f"policy-map type network-qos {policy}") or tree.empty())["blocks"].values()
    return [int(cos) for node in classes for cos in tree.values(node, "pause pfc-cos ")]


def cached(question: Question) -> Answer:
    """`show configuration` in a target configuration: the lines that wait for their commit."""
    lines = (question.state["candidates"].get(question.vty) or {"lines": []})["lines"]
    return Answer("\n".join(["! Cached configuration", *(f"{'  ' * len(path)}{text}" for path, _, text in lines)]))


def _stamp(when: float) -> str:
    return time.strftime("%a %b %e %H:%M:%S %Y", time.gmtime(when))


SHOWS: Shows = {
    "show running-config": running,
    "show startup-config": startup,
    "show interface priority-flow-control": pfc,
    "show configuration": cached,
    **COUNTERS,
}
