# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the members of a cluster to the wanted clients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ....core.consent import Consent
from ....core.converge import Step

NO_LICENSE = "none"
ACTIVE = "active"
UNKNOWN = "unknown"
ADD = "mmaddnode"
RESTORE = "mmsdrrestore"
LICENSE = "mmchlicense"
START = "mmstartup"
WAIT = ""


@dataclass(frozen=True)
class Member:
    """One node in the cluster's records.

    `license` is the designated one, `state` the daemon's as the admin host sees it. `designation` is empty for a node
    that is neither quorum nor manager. `configured` is false if its joining was cut off.
    """

    license: str = NO_LICENSE
    state: str = "down"
    designation: str = ""
    configured: bool = True


@dataclass(frozen=True)
class Membership:
    """The wanted nodes by name; None for one that is not a member."""

    nodes: dict[str, Member | None]

    def lines(self) -> list[str]:
        """One line a member, in the words of mmlscluster, mmlslicense and mmgetstate."""
        return [
            " ".join(filter(None, (name, node.designation, node.license, node.state)))
            + ("" if node.configured else " half-joined")
            for name, node in self.nodes.items()
            if node
        ]


@dataclass(frozen=True)
class Change:
    """A node and the verb that changes it; the adapter runs one command for all nodes of a verb."""

    verb: str
    node: str


def plan(have: Membership, want: Membership) -> list[Step[Membership]]:
    """Steps in passes over all nodes: finish a joining that was cut off, join, licence, start.

    Passes make batches: joining one by one takes the cluster's lock once a node. The licence comes before the start,
    which an unlicensed node may refuse. No node becomes quorum or manager here. One that is gets reported, because a
    job that takes such a node down takes the cluster with it.
    """
    steps: list[Step[Membership]] = []
    state = have
    for stage in (_restore, _join, _license, _start, _stay_client):
        for name in want.nodes:
            for step in stage(name, state.nodes.get(name)):
                steps.append(step)
                state = step.becomes(state)
    licensed = [step.payload.node for step in steps if step.payload.verb == LICENSE]
    consent = Consent(
        "accept_license",
        f"accept_license is false, but {', '.join(licensed)} would get a client licence of IBM Storage Scale;"
        " read its agreement and, if you accept it, set",
    )
    return [replace(step, consent=consent) if step.payload.verb == LICENSE else step for step in steps]


def _restore(name: str, have: Member | None) -> Iterator[Step[Membership]]:
    """mmaddnode makes a node a member first and sends it the configuration then; a kill can fall in between."""
    if have and not have.configured:
        pending = _unreached(name) if have.state == UNKNOWN else ""
        reason = f"{name}: give it the cluster's configuration, since its joining was cut off"
        yield Step(reason, _becomes(name, configured=True), Change(RESTORE, name), pending)


def _join(name: str, have: Member | None) -> Iterator[Step[Membership]]:
    if have is None:
        yield Step(f"{name}: join the cluster as a client", _becomes(name), Change(ADD, name))


def _license(name: str, have: Member | None) -> Iterator[Step[Membership]]:
    if have and have.license == NO_LICENSE:
        yield Step(f"{name}: designate a client licence", _becomes(name, license="client"), Change(LICENSE, name))


def _start(name: str, have: Member | None) -> Iterator[Step[Membership]]:
    """A node that the cluster can't reach is pending, so that the others go on; mm_mount fails on it."""
    if have is None or have.state == ACTIVE:
        return
    becomes = _becomes(name, state=ACTIVE)
    if have.state == UNKNOWN:
        yield Step(f"{name}: start GPFS", becomes, Change(START, name), pending=_unreached(name))
    elif have.state == "down":
        yield Step(f"{name}: start GPFS", becomes, Change(START, name))
    else:
        # it is starting; a second start would not help a network or quorum problem
        yield Step(f"{name}: wait for GPFS, which is {have.state}", becomes, Change(WAIT, name))


def _unreached(name: str) -> str:
    return (
        f"its daemon's state is unknown to the cluster; start the host, or if it was reinstalled restore its"
        f" configuration with: {RESTORE} -N {name}"
    )


def _stay_client(name: str, have: Member | None) -> Iterator[Step[Membership]]:
    if have and have.designation:
        pending = (
            f"the cluster has it as {have.designation}; remove it from drawbridge_nodes, or make it a client with:"
            f" mmchnode --nonquorum --client -N {name}"
        )
        yield Step(f"{name}: be a client only", _becomes(name, designation=""), Change(WAIT, name), pending=pending)


def _becomes(name: str, **fields: Any) -> Any:
    def applied(state: Membership) -> Membership:
        return Membership({**state.nodes, name: replace(state.nodes.get(name) or Member(), **fields)})

    return applied
