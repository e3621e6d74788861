# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Acts as calls of scontrol: nodes with the same text share one. Pure.

Facts of slurmctld 23.11 to 26.05: an empty Comment= removes the comment, and an empty Reason= changes nothing. An
unknown name ends a call: names after it stay as they were. `reboot` skips nodes that can't reboot now, and ends with 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...core import hostlist
from ..decide import DRAIN, KEEP, LIFT, REASON_ONLY, REBOOT_NODE, RESUME, UNKEEP, Act, Seen
from .memory import CHANGES
from .records import SILENT

ORDER = (KEEP, DRAIN, REASON_ONLY, RESUME, LIFT, REBOOT_NODE, UNKEEP)
"""An answer comes first: a node without one drains itself after some minutes."""
AFTER_A_LIFT = "no reason given: this is the one of an earlier drain for health, which is over"
"""Without accounting Slurm keeps a reason after the drain, and a drain of its own shows it again."""
LONGEST_LIST = 32768
"""Characters of names in one call. Linux allows 128 KiB for an argument."""


@dataclass(frozen=True)
class Call:
    """One call of scontrol, and the acts that it does."""

    acts: tuple[Act, ...]
    argv: tuple[str, ...]

    @property
    def kind(self) -> str:
        """That of its acts."""
        return self.acts[0].kind

    @property
    def names(self) -> str:
        """Its nodes as a hostlist."""
        return hostlist.in_order([act.node for act in self.acts])

    def __str__(self) -> str:
        """As a person would say it: "drain of gpu[01-02]: ..."."""
        text = f": {self.acts[0].text}" if self.acts[0].text else ""
        return f"{CHANGES[self.kind]} of {self.names}{text}"


def calls(acts: Iterable[Act], nodes: Mapping[str, Seen]) -> list[Call]:
    """The calls in the order in which they matter; those for many nodes come first."""
    groups: dict[tuple[str, ...], list[Act]] = {}
    for act in acts:
        groups.setdefault((act.kind, *_words(act, nodes[act.node])), []).append(act)
    ordered = sorted(groups.items(), key=lambda it: (ORDER.index(it[0][0]), -len(it[1])))
    return [
        Call(tuple(part), _argv(kind, words, names)) for (kind, *words), group in ordered for part, names in _cut(group)
    ]


def _cut(group: Sequence[Act]) -> Iterator[tuple[Sequence[Act], str]]:
    """The group in parts with a hostlist that fits into an argument."""
    names = hostlist.in_order([act.node for act in group])
    if len(names) <= LONGEST_LIST or len(group) == 1:
        yield group, names
        return
    half = len(group) // 2
    for part in (group[:half], group[half:]):
        yield from _cut(part)


def _words(act: Act, node: Seen) -> list[str]:
    """The words after the names. Nodes whose words are the same share a call."""
    drain = "state=drain"
    if act.kind == DRAIN:
        return [drain, f"reason={act.text}"]
    if act.kind == REASON_ONLY:
        # a node that is back from a reboot is down without a drain, and a proof takes only drained nodes
        again = [drain] if node.state == "DOWN" and "DRAIN" not in node.flags else []
        # the program that returns nodes which Slurm lost looks for these words
        return [*again, f"reason={act.text}{f' : {SILENT}' if node.lost else ''}"]
    if act.kind == LIFT and node.lost:
        return ["state=undrain", f"reason={SILENT}"]
    if act.kind in (LIFT, RESUME):
        return [f"state={'resume' if act.kind == RESUME else 'undrain'}", f"reason={AFTER_A_LIFT}"]
    if act.kind == REBOOT_NODE:
        return [f"reason={act.text}"]
    return [f"comment={replace(node.report, kept=act.text)}"]


def _argv(kind: str, words: Sequence[str], names: str) -> tuple[str, ...]:
    if kind == REBOOT_NODE:
        return ("scontrol", "reboot", "ASAP", "nextstate=DOWN", *words, names)
    return ("scontrol", "update", f"nodename={names}", *words)
