# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Steps that make a host a member of the cluster, or remove it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.consent import variable
from ...core.converge import Step
from ...core.daemon.plan import DaemonState
from .. import unit_plan as kube_unit
from .text import UNIT

JOIN, CERTIFY, DELETE, LEAVE = "join", "certify", "delete", "leave"
JOINS, DELETES = "join the cluster", "delete the Node"
"""The action recognises its own work by these first words of a step."""


@dataclass(frozen=True)
class MemberState:
    """A host's kubelet with its files, and its membership."""

    daemon: DaemonState
    member: bool
    """The API server accepts the kubelet's certificate and has its Node."""
    kubelet_serving_cert: bool
    """The API server can verify the kubelet's serving certificate, and it is valid for weeks."""
    why: str = field(default="", compare=False)
    """Why it is no member, or why the serving certificate is not valid."""

    def lines(self) -> list[str]:
        """Lines of a diff: the daemon, then the membership."""
        certificate = "verified" if self.kubelet_serving_cert else "not verified"
        return [*self.daemon.lines(), f"{'member' if self.member else 'no member'}, serving certificate {certificate}"]


NO_MEMBER = MemberState(DaemonState(UNIT, {}, enabled=False, active=False), False, False)
"""A host with a stopped kubelet and without Drawbridge's files."""


def plan(have: MemberState, want: MemberState) -> list[Step[MemberState]]:
    """Files and unit first, then the join, or a restart: a kubelet requests a serving certificate when it starts."""
    steps: list[Step[MemberState]] = []
    for step in kube_unit.plan(have.daemon, want.daemon):
        verb = step.payload[0]
        if have.member or verb in ("write", "enable"):
            steps.append(_lifted(step))
    if not have.member:
        steps.append(Step(f"{JOINS}: {have.why}", lambda _: want, (JOIN, "")))
    elif not have.kubelet_serving_cert:
        reason = f"get a serving certificate that the cluster has signed: {have.why}"
        certified = Step(reason, lambda s: replace(s, kubelet_serving_cert=True), (CERTIFY, ""))
        steps.append(replace(certified, disturbs=have.daemon.active))
    return steps


def no_steps(have: MemberState, want: MemberState) -> list[Step[MemberState]]:
    """The plan for a member that is not Drawbridge's."""
    return []


def leave(have: MemberState, want: MemberState) -> list[Step[MemberState]]:
    """Delete the Node while it is closed, then stop the kubelet and remove its identity."""
    steps: list[Step[MemberState]] = []
    if have.member:
        steps.append(Step(DELETES, lambda s: replace(s, member=False), (DELETE, ""), disturbs=True))
    found = have.daemon
    if found.active or found.enabled or found.files:
        steps.append(Step("stop the kubelet, and remove its identity", lambda _: want, (LEAVE, ""), disturbs=True))
    return steps


def _lifted(step: Step[DaemonState]) -> Step[MemberState]:
    def becomes(state: MemberState) -> MemberState:
        return replace(state, daemon=step.becomes(state.daemon))

    return Step(step.reason, becomes, step.payload, disturbs=step.disturbs)


def findings(state: MemberState, params: Mapping[str, Any]) -> list[str]:
    """Faults of a membership that the site has made, each with its repair."""
    name, found = params["name"], []
    if not state.daemon.active:
        found.append(f"{UNIT} of {name} does not run; start it: systemctl start {UNIT}")
    if not state.daemon.enabled:
        found.append(f"{UNIT} of {name} does not start at boot; enable it: systemctl enable {UNIT}")
    if not state.member:
        cause = f"{name} is no member of the cluster ({state.why})"
        found.append(f"{cause}; join it, set {variable(params, 'certificate')}, or drawbridge_kube.join: drawbridge")
    elif state.daemon.active and not state.kubelet_serving_cert:
        found.append(
            f"{name}: {state.why}; set serverTLSBootstrap: true in its kubelet and approve its signing request"
        )
    return found
