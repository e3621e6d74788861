# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the show commands print. Configurations: captures; `show diff`: the User Guide 10.5, CLI basics.

How `show diff` prints a line that the candidate lacks is [modelled]: as `no` with the line. The layout of
`priority-flow-control details` is [recalled] from the guide.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lab.emulators.fabric.cli import tree
from lab.emulators.fabric.cli.shows import Answer, Question
from lab.emulators.fabric.os10.transaction import staged
from lab.emulators.fabric.os10.tree import OS10, pausing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.emulators.fabric.cli.tree import Node

VERSION = "10.5.6.1"


def version(question: Question) -> Answer:
    """`show version`: only what is documented of it."""
    del question
    lines = [
        "Dell SmartFabric OS10 Enterprise",
        f"OS Version: {VERSION}",
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
    head = [f"! Version {VERSION}", f"! Last configuration change at {stamp}", "!"]
    return Answer("\n".join([*head, *OS10.render(config)]))


def difference(question: Question) -> Answer:
    """`show diff candidate-configuration running-configuration`: blocks with what differs; nothing if none does."""
    return Answer("\n".join(_differs(staged(question.state), question.state["running"])))


def _differs(ours: Node, theirs: Node, depth: int = 0) -> Iterator[str]:
    for text in [text for key, text in ours["lines"].items() if theirs["lines"].get(key) != text]:
        yield f"{' ' * depth}{text}"
    for text in [text for key, text in theirs["lines"].items() if key not in ours["lines"]]:
        yield f"{' ' * depth}no {text}"
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
        state = pausing(question.state["running"], name)
        works = bool(state["priorities"]) and name not in question.state.get("stuck", ())
        lines += [
            name,
            f"  Admin Mode : {str(state['admin']).lower()}",
            f"  Operstatus: {str(works).lower()}",
            f"  PFC Priorities: {','.join(map(str, state['priorities']))}",
            "  Total Rx PFC Frames: 0",
            "  Total Tx PFC frames: 0",
            "  Cos     Rx        Tx",
            "  ------------------------",
            *(f"  {cos}       0         0" for cos in range(8)),
        ]
    return Answer("\n".join(lines))


SHOWS: dict[str, Callable[[Question], Answer]] = {
    "show version": version,
    "show running-configuration": running,
    "show startup-configuration": startup,
    "show candidate-configuration": candidate,
    "show diff candidate-configuration running-configuration": difference,
    "show interface [<port:port>] priority-flow-control details": pfc,
}
