# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the node as it is to a member of the cluster, or to none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.consent import variable
from ...core.converge import Step
from ...core.daemon import plan as daemon
from ...core.daemon.plan import DaemonState
from .. import unit_plan as kube_unit
from .text import UNIT

JOIN, SERVE, DELETE, LEAVE = "join", "serve", "delete", "leave"
JOINS, DELETES = "join the cluster", "delete the Node"
"""How these steps begin, for who hands over tokens and deletes Nodes."""


@dataclass(frozen=True)
class MemberState:
    """A node's kubelet with its files, and the node in the cluster."""

    daemon: DaemonState
    member: bool
    """The API server takes the kubelet for this node, and has a Node of its name."""
    serving: bool
    """Who asks the kubelet for logs can verify its certificate, and will be able to for weeks."""
    why: str = field(default="", compare=False)
    """What is wrong with its membership."""

    def lines(self) -> list[str]:
        """The daemon, then the membership."""
        certificate = "verified" if self.serving else "not verified"
        return [*self.daemon.lines(), f"{'member' if self.member else 'no member'}, serving certificate {certificate}"]


NO_MEMBER = MemberState(DaemonState(UNIT, {}, enabled=False, active=False), False, False)
"""A host whose kubelet is off and has nothing of ours."""


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
        steps.append(Step(reason, lambda s: replace(s, serving=True), (SERVE, ""), disturbs=have.daemon.active))
    return steps


def leave(have: MemberState, want: MemberState) -> list[Step[MemberState]]:
    """The Node goes while it is closed, then the kubelet stops and forgets who it was."""
    steps: list[Step[MemberState]] = []
    if have.member:
        steps.append(Step(DELETES, lambda s: replace(s, member=False), (DELETE, ""), disturbs=True))
    found = have.daemon
    if found.active or found.enabled or found.files:
        steps.append(Step("stop the kubelet, and forget its identity", lambda _: want, (LEAVE, ""), disturbs=True))
    return steps


def _lifted(step: Step[daemon.DaemonState]) -> Step[MemberState]:
    """A step of the daemon as one of the member."""

    def becomes(state: MemberState) -> MemberState:
        return replace(state, daemon=step.becomes(state.daemon))

    return Step(step.reason, becomes, step.payload, disturbs=step.disturbs)


def findings(state: MemberState, params: Mapping[str, Any]) -> list[str]:
    """What is wrong with a membership that the site has made, each with its repair."""
    name, found = params["name"], []
    if not state.daemon.active:
        found.append(f"{UNIT} of {name} does not run; start it: systemctl start {UNIT}")
    if not state.daemon.enabled:
        found.append(f"{UNIT} of {name} does not start at boot; enable it: systemctl enable {UNIT}")
    if not state.member:
        cause = f"{name} is no member of the cluster ({state.why})"
        certificate = variable(params, "certificate")
        found.append(f"{cause}; join it, set {certificate}, or drawbridge_kube.join: drawbridge")
    elif state.daemon.active and not state.serving:
        found.append(
            f"{name}: {state.why}; set serverTLSBootstrap: true in its kubelet and approve its signing request"
        )
    return found
