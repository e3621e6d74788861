# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line of OS10: a login is privileged, configuration modes reach exec commands through `do` only.

Configurations: captures; `show diff`: the User Guide 10.5, CLI basics. How it prints a line that the candidate lacks is
[modelled]: as `no` with the line. The layout of `priority-flow-control details` is [recalled] from the guide. `show
queuing statistics`: a public capture; its WRED form: the same table in SONiC's design of the management framework.
`show lldp neighbors`: captures.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from lab.emulators.fabric.cli import terminal, tree
from lab.emulators.fabric.cli.shows import Answer, Question, Shows
from lab.emulators.fabric.cli.tree import header, natural
from lab.emulators.fabric.data_model import PRIORITIES, count
from lab.emulators.fabric.os10 import transaction
from lab.emulators.fabric.os10.transaction import staged
from lab.emulators.fabric.os10.tree import OS10, pausing, prompt_part
from lab.emulators.fabric.releases import release
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.emulators.fabric.cli.grammar import Match
    from lab.emulators.fabric.cli.tree import Node
    from lab.emulators.fabric.switch import State

VERSION = "10.5.6.1"


def version(question: Question) -> Answer:
    """`show version`: only its documented lines."""
    lines = [
        "Dell SmartFabric OS10 Enterprise",
        f"OS Version: {release(question.state, VERSION)}",
        "System Type: Z9432F-ON",
        "Architecture: x86_64",
    ]
    return Answer("\n".join(lines))


def running(question: Question) -> Answer:
    """`show running-configuration`."""
    return _configuration(question, question.state["running"])


def startup(question: Question) -> Answer:
    """`show startup-configuration`."""
    return _configuration(question, question.state["startup"] or tree.empty())


def candidate(question: Question) -> Answer:
    """`show candidate-configuration`."""
    return _configuration(question, staged(question.state))


def _configuration(question: Question, config: Node) -> Answer:
    stamp = time.strftime("%b  %d %H:%M:%S %Y", time.gmtime(question.now))
    head = [f"! Version {release(question.state, VERSION)}", f"! Last configuration change at {stamp}", "!"]
    return Answer("\n".join([*head, *OS10.render(config)]))


def difference(question: Question) -> Answer:
    """`show diff candidate-configuration running-configuration`: blocks with what differs; nothing if none does."""
    return Answer("\n".join(_differs(staged(question.state), question.state["running"])))


def _differs(ours: Node, theirs: Node, depth: int = 0) -> Iterator[str]:
    for text in [text for key, text in ours["lines"].items() if theirs["lines"].get(key) != text]:
        yield f"{' ' * depth}{text}"
    for text in [text for key, text in theirs["lines"].items() if key not in ours["lines"]]:
        yield f"{' ' * depth}{text.removeprefix('no ') if text.startswith('no ') else f'no {text}'}"
    for key in sorted({*ours["blocks"], *theirs["blocks"]}, key=tree.natural):
        if key not in ours["blocks"]:
            yield from (f"{' ' * depth}!", f"{' ' * depth}no {tree.header(key)}")
            continue
        inner = list(_differs(ours["blocks"][key], theirs["blocks"].get(key, tree.empty()), depth + 1))
        if inner or key not in theirs["blocks"]:
            yield from (f"{' ' * depth}!", f"{' ' * depth}{tree.header(key)}", *inner)


def pfc(question: Question) -> Answer:
    """`show interface [PORT] priority-flow-control details`: what the hardware pauses, port by port."""
    wanted = question.args.get("port")
    names = [wanted] if wanted else sorted(question.state["ports"], key=tree.natural)
    lines: list[str] = []
    for name in names:
        received, sent = ([count(question.state, name, n, f"{way}_pause") for n in PRIORITIES] for way in ("rx", "tx"))
        state = pausing(question.state["running"], name)
        works = bool(state["priorities"]) and name not in question.state.get("stuck", ())
        lines += [
            name,
            f"  Admin Mode : {str(state['admin']).lower()}",
            f"  Operstatus: {str(works).lower()}",
            f"  PFC Priorities: {','.join(map(str, state['priorities']))}",
            f"  Total Rx PFC Frames: {sum(received)}",
            f"  Total Tx PFC frames: {sum(sent)}",
            "  Cos     Rx        Tx",
            "  ------------------------",
            *(f"  {cos}       {received[cos]:<9} {sent[cos]}" for cos in PRIORITIES),
        ]
    return Answer("\n".join(lines))


def queues(question: Question) -> Answer:
    """`show queuing statistics interface PORT`: packets of each queue; the first two columns aren't modelled."""
    name = question.args["port"]
    lines = [f"Interface {name}", f"Queue {'Packets':<24} {'Bytes':<24} {'Dropped-Packets':<24} {'Dropped-Bytes':<24}"]
    for n in PRIORITIES:
        lines.append(f"{n:<5} {0:<24} {0:<24} {count(question.state, name, n, 'dropped'):<24} {0:<24}")
    return Answer("\n".join(lines))


def wred(question: Question) -> Answer:
    """`show queuing statistics interface PORT wred`: all queues together."""
    name = question.args["port"]
    marked = sum(count(question.state, name, n, "marked") for n in PRIORITIES)
    named = ("Output", "Dropped", "Green Drop", "Yellow Drop", "Red Drop")
    lines = [f"Interface {name} (All queues)", f"{'Description':<20}{'Packets':<20}Bytes"]
    lines += [f"{what:<20}{0:<20}0" for what in named]
    return Answer("\n".join([*lines, f"{'ECN marked count':<20}{marked:<20}0"]))


def neighbours(question: Question) -> Answer:
    """`show lldp neighbors`."""
    title = f"{'Loc PortID':<20}{'Rem Host Name':<21}{'Rem Port Id':<31}Rem Chassis Id"
    rows = question.state["neighbors"].items()
    lines = [f"{port:<20}{device:<21}{there:<31}00:00:5e:00:53:01" for port, (device, there) in rows]
    return Answer("\n".join([title, "-" * 86, *lines]))


SHOWS: Shows = {
    "show version": version,
    "show running-configuration": running,
    "show startup-configuration": startup,
    "show candidate-configuration": candidate,
    "show diff candidate-configuration running-configuration": difference,
    "show interface [<port:port>] priority-flow-control details": pfc,
    "show queuing statistics interface <port:port>": queues,
    "show queuing statistics interface <port:port> wred": wred,
    "show lldp neighbors": neighbours,
}


class Cli(terminal.Cli):
    """The command line as one user sees it."""

    language = OS10
    shows: ClassVar = SHOWS
    saved = "Copy completed"
    link = staticmethod(transaction.link)
    privileged = True

    def __init__(self, user: str, vty: str) -> None:
        """Begin in exec mode, with no range of ports chosen."""
        super().__init__(user, vty)
        self._now = 0.0
        self._others: list[str] = []

    def place(self) -> str:
        """Return the innermost mode, the only one that the prompt shows."""
        if not self.path:
            return "config"
        key, mode = self.path[-1]
        one = prompt_part(mode, header(key))
        last = header(self._others[-1]).removeprefix("interface ethernet") if self._others else ""
        return f"{one.replace('conf-if-', 'conf-range-')}-{last}" if last else one

    def candidate(self, state: State) -> Node:
        """Return the configuration that all users edit, unless one of them has locked it."""
        return transaction.edited(state, self.vty)

    def run(self, state: State, line: str, now: float) -> str:
        """Do what a typed line asks."""
        self._now = now
        done, _, text = line.strip().partition(" ")
        try:
            if self.configuring and done == "do":
                return super()._exec(state, text, now)
            return super().run(state, line, now)
        finally:
            transaction.end_if_over(state)

    def applied(self, state: State, target: Node, text: str, opened: str) -> str:
        """Type the line for the other ports of a range too; put it in force unless a transaction waits for commit."""
        del opened
        if not self.path or self.path[0][1] != "if" or text.lower().startswith("int"):
            self._others = []
        for key in self._others:
            self.language.apply(target, [key], "if", state["platform"], text)
        if self.vty not in state["transactions"]:
            transaction.commit(state, self.vty, self._now)
        return ""

    def _exec(self, state: State, text: str, now: float) -> str:
        if not self.configuring:
            return super()._exec(state, text, now)
        found = self.language.grammar.match(self.in_config, text)
        return self.in_config[found.pattern](self, state, found, now)

    def _range(self, state: State, found: Match, _now: float) -> str:
        first, _, last = found.args["ports"].partition("-")
        kind = first.rstrip("0123456789/:")
        ends = [natural(f"interface {name}") for name in (first, f"{kind}{last or first.removeprefix(kind)}")]
        blocks = sorted(self.candidate(state)["blocks"], key=natural)
        keys = [key for key in blocks if kind == "ethernet" and ends[0] <= natural(header(key)) <= ends[1]]
        if not keys:
            raise Refused("% Error: Interface does not exist.")
        self.path, self._others = [(keys[0], "if")], keys[1:]
        return ""

    def configure_terminal(self, _state: State, _found: Match, _now: float) -> str:
        """Enter the candidate: OS10 has no other way."""
        self.configure(transaction.CANDIDATE)
        return ""

    def _transact(self, state: State, found: Match, now: float) -> str:
        ACTS[found.pattern](state, self.vty, now)
        return ""


ACTS = {
    "start transaction": transaction.start,
    "commit": transaction.commit,
    "discard": transaction.discard,
    "lock": transaction.lock,
    "unlock": transaction.unlock,
}
Cli.commands = {
    "exit": Cli.exit,
    "logout": Cli.exit,
    "terminal length <rows:int:0-512>": Cli.terminal,
    "terminal monitor": Cli.terminal,
    "configure [terminal]": Cli.configure_terminal,
    **dict.fromkeys(ACTS, Cli._transact),
    "write memory": Cli.save,
    "copy running-configuration startup-configuration": Cli.save,
}
Cli.in_config = {"exit": Cli.exit, "end": Cli.exit, "interface range <ports:word>": Cli._range}
