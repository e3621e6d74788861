# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line of NX-OS: one-stage and two-stage configuration, several commands on a line, saving, show commands.

Layouts: public captures of running configurations and of PFC tables. What a Nexus counts is JSON, queue by queue: NX-OS
prints a table of one row as an object, of several as a list. Tables of `show queuing` lie below a module, as the files
of tests/transcripts/fabric/nxos have them; their keys are those of Cisco's reference. A queue's number is that of its
qos-group; `counters` has it under that number.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

from lab.emulators.fabric.cli import terminal, tree
from lab.emulators.fabric.cli.shows import Answer, Question, Shows
from lab.emulators.fabric.data_model import PRIORITIES, count
from lab.emulators.fabric.nxos import stages
from lab.emulators.fabric.nxos.language import NXOS, attached
from lab.emulators.fabric.nxos.lines import GRAMMAR, ROLL_BACK
from lab.emulators.fabric.releases import older, release
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.emulators.fabric.cli.grammar import Match
    from lab.emulators.fabric.cli.tree import Node
    from lab.emulators.fabric.switch import State

Row = dict[str, Any]
INTERFACE = "queuing_interface"
KINDS = {"tx_uc_drop_pkt": "dropped", "tx_uc_ecn_pkt": "marked", "pfc_rx": "rx_pause", "pfc_tx": "tx_pause"}


def table(name: str, rows: list[Row]) -> Row:
    """Return a table as NX-OS prints it; nothing if it is empty."""
    return {f"TABLE_{name}": {f"ROW_{name}": rows[0] if len(rows) == 1 else rows}} if rows else {}


def _by_port(question: Question, row: Callable[[str], Row]) -> Row:
    """Return a row for each port, below the only module of a fixed switch."""
    names = sorted(question.state["ports"], key=tree.natural)
    rows = [{"if_name_str": name, **row(name)} for name in names]
    return table("module", [{"module_number": "1", **table(INTERFACE, rows)}])


def _answer(data: Row) -> Answer:
    """The text form isn't modelled."""
    return Answer("", data)


def tabular(question: Question) -> Answer:
    """`show queuing tabular`: one flat row for each port."""

    def row(name: str) -> Row:
        state = question.state
        return {f"{key}_qos_{n}": str(count(state, name, n, what)) for key, what in KINDS.items() for n in PRIORITIES}

    return _answer(_by_port(question, row))


def depths(question: Question) -> Answer:
    """`show queuing interface`: statistics of each queue, packets and bytes apart."""

    def queue(name: str, n: int) -> Row:
        values = {("Tx", "Pkts"): 0, ("Tx", "Byts"): 0, ("Q Depth", "Byts"): count(question.state, name, n, "depth")}
        entries = [
            {"eq-stat-type": kind, "eq-stat-units": units, "eq-uc-stat-value": str(value), "eq-mc-stat-value": "0"}
            for (kind, units), value in values.items()
        ]
        return {"eq-qosgrp": str(n), **table("qosgrp_egress_stats_entry", entries)}

    def row(name: str) -> Row:
        queues = [queue(name, n) for n in PRIORITIES]
        special: list[Row] = [{"eq-qosgrp": "CONTROL QOS GROUP"}, {"eq-qosgrp": "SPAN QOS GROUP"}]
        return {"dir": "Egress", **table("qosgrp_egress_stats", [*queues, *special])}

    return _answer(_by_port(question, row))


def watchdog(question: Question) -> Answer:
    """`show queuing pfc-queue detail`: how often a queue was shut down and restored."""

    def row(name: str) -> Row:
        stuck = [n for n in PRIORITIES if count(question.state, name, n, "storms")]
        queues = [
            {
                "eq-qosgrp": str(n),
                **table(
                    "qosgrp_stats_entry",
                    [
                        {"q-stat-type": "Stats", f"q-{key}": str(count(question.state, name, n, what))}
                        for key, what in (("shutdown", "storms"), ("restored", "restored"))
                    ],
                ),
            }
            for n in stuck
        ]
        return {"if_name_str": f"{name} Interface PFC watchdog: [Enabled]", **table("qosgrp_stats", queues)}

    return _answer({"glb-wd-status": "Enabled", **_by_port(question, row)})


def neighbours(question: Question) -> Answer:
    """`show lldp neighbors detail`: ports have their short names."""
    rows = [
        {"l_port_id": port.replace("Ethernet", "Eth"), "sys_name": device, "port_id": there, "port_desc": there}
        for port, (device, there) in question.state["neighbors"].items()
    ]
    return _answer({**table("nbor_detail", rows), "neigh_hdr": "neigh_hdr"})


COUNTERS: Shows = {
    "show queuing tabular": tabular,
    "show queuing interface": depths,
    "show queuing pfc-queue detail": watchdog,
    "show lldp neighbors detail": neighbours,
}


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


def software(question: Question) -> Answer:
    """`show version`: its lines on software."""
    return Answer(f"Software\n  BIOS: version 01.09\n  NXOS: version {version(question.state)}")


def version(state: State) -> str:
    """Return the release that the switch runs."""
    return release(state, VERSION)


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
    "show version": software,
    **COUNTERS,
}


SAVED = f"[{'#' * 40}] 100%\nCopy complete, now saving to disk (please wait)...\nCopy complete."


class Cli(terminal.Cli):
    """The command line as one user sees it; network-admin is privileged from the start."""

    language = NXOS
    shows: ClassVar = SHOWS
    unconverted = "% Structured output unsupported"
    help = "Enter configuration commands, one per line. End with CNTL/Z."
    saved = SAVED
    link = staticmethod(stages.link)
    privileged = True
    rows = 24

    def place(self) -> str:
        """Return the modes."""
        return "-".join(["config", *(["dual-stage"] if self.session else []), *(mode for _, mode in self.path[-1:])])

    def run(self, state: State, line: str, now: float) -> str:
        """Run the commands of a line one after the other."""
        shown = [super(Cli, self).run(state, part, now) for part in line.split(" ; ")]
        return "\n".join(filter(None, shown))

    def typed(self, state: State, path: list[str], mode: str, text: str, now: float) -> tuple[Node, list[str], str]:
        """Cache a line of a target configuration; others are in force at once."""
        if self.session:
            return stages.cache(state, self.vty, path, mode, text)
        return super().typed(state, path, mode, stages.timed(text, now), now)

    def left(self, state: State) -> None:
        """Drop the target configuration."""
        state["candidates"].pop(self.vty, None)

    def _dual_stage(self, state: State, _found: Match, _now: float) -> str:
        if older(state, VERSION, stages.TWO_STAGES):
            raise Refused(GRAMMAR.invalid)
        stages.enter(state, self.vty)
        self.configure("dual-stage")
        return self.help

    def _commit(self, state: State, found: Match, now: float) -> str:
        shown = stages.commit(state, self.vty, self.user, now, int(found.args.get("seconds", 0)))
        self.path = []
        return shown

    def _abort(self, state: State, _found: Match, _now: float) -> str:
        self.left(state)
        self.to_exec()
        return ""

    def _checkpoint(self, state: State, found: Match, _now: float) -> str:
        act = stages.drop if found.text.startswith("no ") else stages.keep
        return act(state, found.args["name"])

    def _roll_back(self, state: State, found: Match, now: float) -> str:
        return stages.roll_back(state, found.args["name"], now)


Cli.commands = {
    "exit": Cli.exit,
    "terminal length <rows:int:0-511>": Cli.terminal,
    "terminal width <columns:int:24-511>": Cli.terminal,
    "terminal monitor": Cli.terminal,
    "no terminal monitor": Cli.terminal,
    "configure [terminal]": Cli.configure_terminal,
    "configure dual-stage": Cli._dual_stage,
    "copy running-config startup-config": Cli.save,
    "checkpoint <name:word>": Cli._checkpoint,
    "no checkpoint <name:word>": Cli._checkpoint,
    ROLL_BACK: Cli._roll_back,
}
Cli.in_config = {"end": Cli.exit}
Cli.in_session = {"commit [confirmed <seconds:int:30-65535>]": Cli._commit, "abort": Cli._abort}
