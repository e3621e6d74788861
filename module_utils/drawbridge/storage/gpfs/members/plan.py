# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the members of a cluster to the wanted clients, and without those that leave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ....core.consent import Consent
from ....core.converge import Step
from ..mmfsd import DOWN, UNKNOWN
from .hints import Hints, foreign, unreached

NO_LICENSE = "none"
ADD = "mmaddnode"
RESTORE = "mmsdrrestore"
INTERFACE = "mmchnode"
LICENSE = "mmchlicense"
DELETE = "mmdelnode"
NONE = ""


@dataclass(frozen=True)
class Member:
    """One node in the cluster's records.

    `license` is the designated one. `designation` is empty for a node that is neither quorum nor manager. `configured`
    is false for a node that has lost the configuration, or did not get it because its joining was cut off.
    """

    license: str = NO_LICENSE
    designation: str = ""
    configured: bool = True
    admin: str = ""
    """Name of its admin interface, empty if that is as intended."""
    state: str = field(default=DOWN, compare=False)
    """The daemon's, as the admin host sees it."""
    moved: str = field(default="", compare=False)
    """Why its daemon interface is another one than intended; empty if it is not."""


@dataclass(frozen=True)
class Membership:
    """The wanted nodes by name; None for one that is not a member."""

    nodes: Mapping[str, Member | None]
    cluster_id: str = field(default="", compare=False)

    def lines(self) -> list[str]:
        """One line a member, in the words of mmlscluster and mmlslicense."""
        return [
            " ".join(filter(None, (name, node.designation, node.license, node.admin)))
            + ("" if node.configured else " without configuration")
            for name, node in self.nodes.items()
            if node
        ]


@dataclass(frozen=True)
class Change:
    """A node and the verb that changes it; the adapter runs one command for all nodes of a verb."""

    verb: str
    node: str


def plan(have: Membership, want: Membership, hints: Hints | None = None) -> list[Step[Membership]]:
    """Steps in passes over all nodes: restore, join, interface, licence; then delete those that `want` has as None.

    Passes make batches: joining one by one takes the cluster's lock once a node. No node becomes quorum or manager
    here. One that is gets reported, because a job that takes such a node down takes the cluster with it.
    """
    hints = hints or Hints()
    steps: list[Step[Membership]] = []
    state = have
    stay = [name for name, member in want.nodes.items() if member]
    for stage in (_restore, _join, _interfaces, _license, _stay_client):
        for name in stay:
            for step in stage(name, state, hints):
                steps.append(step)
                state = step.becomes(state)
    leaving = [name for name, member in want.nodes.items() if not member]
    steps += [step for name in leaving for step in _delete(name, have.nodes.get(name), hints)]
    return [replace(step, consent=_consent(steps)) if step.payload.verb == LICENSE else step for step in steps]


def _consent(steps: Sequence[Step[Membership]]) -> Consent:
    licensed = [step.payload.node for step in steps if step.payload.verb == LICENSE]
    return Consent(
        "accept_license",
        f"accept_license is false, but {', '.join(licensed)} would get a client licence of IBM Storage Scale;"
        " read its agreement and, if you accept it, set",
    )


def _restore(name: str, state: Membership, hints: Hints) -> Iterator[Step[Membership]]:
    """A rebuilt host is a member that has no configuration; so is one whose joining was cut off."""
    have = state.nodes.get(name)
    if not have:
        return
    known = hints.local.get(name)
    reason = f"{name}: give it the cluster's configuration, which it does not have"
    if not have.configured or (known and not known.cluster_id):
        yield Step(reason, _becomes(name, configured=True), Change(RESTORE, name))
    elif known and known.cluster_id != state.cluster_id:
        yield _waits(name, f"{name}: be a client of this cluster", foreign(known))
    elif have.state == UNKNOWN:
        yield _waits(name, f"{name}: answer the cluster's admin host", unreached(name, known is not None))


def _join(name: str, state: Membership, hints: Hints) -> Iterator[Step[Membership]]:
    if state.nodes.get(name):
        return
    reason, known = f"{name}: join the cluster as a client", hints.local.get(name)
    if known and known.cluster_id and known.cluster_id != state.cluster_id:
        yield _waits(name, reason, foreign(known))
    elif not known and hints.ask_first:
        yield _waits(name, reason, "its software is not ready; its own result has the cause")
    else:
        yield Step(reason, _becomes(name), Change(ADD, name))


def _interfaces(name: str, state: Membership, _hints: Hints) -> Iterator[Step[Membership]]:
    have = state.nodes.get(name)
    if have and have.moved:
        yield _waits(name, f"{name}: use its daemon interface", have.moved)
    if have and have.admin:
        reason = f"{name}: change its admin interface from {have.admin}"
        yield Step(reason, _becomes(name, admin=""), Change(INTERFACE, name))


def _license(name: str, state: Membership, _hints: Hints) -> Iterator[Step[Membership]]:
    have = state.nodes.get(name)
    if have and have.license == NO_LICENSE:
        yield Step(f"{name}: designate a client licence", _becomes(name, license="client"), Change(LICENSE, name))


def _stay_client(name: str, state: Membership, _hints: Hints) -> Iterator[Step[Membership]]:
    have = state.nodes.get(name)
    if have and have.designation:
        why = (
            f"the cluster has it as {have.designation}; remove it from drawbridge_nodes, or make it a client with:"
            f" mmchnode --nonquorum --client -N {name}"
        )
        yield _waits(name, f"{name}: be a client only", why)


def _delete(name: str, have: Member | None, hints: Hints) -> Iterator[Step[Membership]]:
    """A node whose daemon runs has not left its file systems yet. One that does not answer may still use them."""
    if not have:
        return
    reason, refused = f"{name}: leave the cluster", ""
    if have.designation:
        refused = f"{name} is {have.designation} of the cluster; make it a client first, or choose another node"
    elif have.state == UNKNOWN and name not in hints.dead:
        refused = (
            f"{name} does not answer, so it may still use its file systems; start it, or, if it is"
            f" lost permanently, add the line {hints.dead_option}: [{name}]"
        )
    elif have.state not in (DOWN, UNKNOWN) and name not in hints.stopping:
        refused = f"GPFS is {have.state} on {name}; the node must unmount its file systems and stop GPFS first"

    def gone(state: Membership) -> Membership:
        return replace(state, nodes={**state.nodes, name: None})

    yield Step(reason, gone, Change(DELETE, name), refused=refused)


def _waits(name: str, reason: str, why: str) -> Step[Membership]:
    return Step(reason, lambda state: state, Change(NONE, name), pending=why)


def _becomes(name: str, **fields: Any) -> Any:
    def applied(state: Membership) -> Membership:
        return replace(state, nodes={**state.nodes, name: replace(state.nodes.get(name) or Member(), **fields)})

    return applied
