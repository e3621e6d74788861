# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the node as it is to a member of the cluster, or to none."""

from __future__ import annotations

from dataclasses import replace

from ...core.converge import Step
from ...core.daemon import plan as daemon
from .. import unit_plan as kube_unit
from .text import MemberState

JOIN, SERVE, DELETE, LEAVE = "join", "serve", "delete", "leave"
JOINS, DELETES = "join the cluster", "delete the Node"
"""How these steps begin, for who hands over tokens and deletes Nodes."""


def plan(have: MemberState, want: MemberState) -> list[Step[MemberState]]:
    """Files and unit as for any daemon; a kubelet that is no member is started as one that asks to become one.

    The last word is the certificate with which the kubelet answers; a kubelet asks for a new one when it starts.
    """
    steps: list[Step[MemberState]] = []
    for step in kube_unit.plan(have.daemon, want.daemon):
        verb = step.payload[0]
        if have.member or verb in ("write", "enable"):
            steps.append(_lifted(step))
    if not have.member:
        steps.append(Step(f"{JOINS}: {have.why}", lambda _: want, (JOIN, "")))
    elif not have.serving:
        reason = f"get a serving certificate that the cluster has signed: {have.why}"
        steps.append(Step(reason, lambda s: replace(s, serving=True), (SERVE, ""), pending=have.busy))
    return steps


def leave(have: MemberState, want: MemberState) -> list[Step[MemberState]]:
    """The Node goes while it is closed, then the kubelet stops and forgets who it was."""
    steps: list[Step[MemberState]] = []
    if have.member:
        steps.append(Step(DELETES, lambda s: replace(s, member=False), (DELETE, ""), pending=have.busy))
    found = have.daemon
    if found.active or found.enabled or found.files:
        steps.append(Step("stop the kubelet, and forget its identity", lambda _: want, (LEAVE, ""), pending=have.busy))
    return steps


def _lifted(step: Step[daemon.DaemonState]) -> Step[MemberState]:
    """A step of the daemon as one of the member."""
    return Step(step.reason, lambda s: replace(s, daemon=step.becomes(s.daemon)), step.payload, step.pending)
