# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""This host as a member of the cluster: the kubelet's unit and files, its identity, its Node."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...core import files
from ...core.command import Run
from ...core.converge import DeviceError, Step
from ...nodes.use_io import NodeUse
from ..kubelet.health_io import sentence
from ..node_object_io import OwnNode
from ..unit_io import KubeUnit
from .plan import DELETE, JOIN, SERVE, MemberState
from .serving_cert_io import serving
from .text import BOOTSTRAP, DROP_IN, HEADER, KUBECONFIG, MAIN_CONFIG, UNIT, bootstrap

POLL_S = 0.5
STARTS = frozenset({"start", "restart", "refresh"})


@dataclass(frozen=True)
class Place:
    """How the node is reached, and how long it may take to become Ready."""

    address: str
    ca_file: str
    timeout_s: float


@dataclass(frozen=True)
class Invitation:
    """What makes this host a member: where, whose certificate is believed, and a token that is good for minutes."""

    server: str
    ca: str
    token: str


class Member:
    """The node. Without an invitation it can only be looked at, or changed as what it is."""

    def __init__(self, place: Place, unit: KubeUnit, node: OwnNode, run: Run, invited: Invitation) -> None:
        self._place, self._unit, self._node, self._run, self._invited = place, unit, node, run, invited

    name = UNIT

    def read(self) -> MemberState:
        """Unit and files, then the API server as this node, then the kubelet as the API server."""
        if self._invited.ca and Path(MAIN_CONFIG).exists() and not Path(MAIN_CONFIG).read_text().startswith(HEADER):
            cause = f"{MAIN_CONFIG} is somebody else's, so this host was made a member by other means"
            raise DeviceError(f"{cause}; set drawbridge_kube.join: site, or move the file away to start anew")
        found = self._unit.read()
        why = self._no_member()
        if why:
            return MemberState(found, False, False, why)
        wrong = serving(self._place.address, self._place.ca_file) if found.active else "the kubelet does not run"
        return MemberState(found, True, not wrong, wrong)

    def held_by_gate(self) -> str:
        """Why the node can't leave the cluster now; a host that is no member can."""
        return "" if self._no_member() else self._node.look().in_use

    def apply(self, steps: Sequence[Step[MemberState]]) -> None:
        """Write and enable, then start what is to be started, and wait for the proof."""
        verbs = {step.payload[0] for step in steps}
        if JOIN in verbs:
            self._prepare_to_join()
        begun_s = time.time()
        own = [step for step in steps if step.payload[0] not in (JOIN, SERVE)]
        self._unit.apply([Step(step.reason, lambda state: state, step.payload) for step in own])
        if JOIN in verbs or (SERVE in verbs and not verbs & STARTS):
            self._run(["systemctl", "restart", UNIT])
        if verbs & {JOIN, SERVE, *STARTS}:
            self._wait(begun_s)
            files.remove(BOOTSTRAP)

    def _no_member(self) -> str:
        if not self._node.member:
            return "it has no certificate"
        if not Path(KUBECONFIG).exists():
            return f"it has no {KUBECONFIG}"
        return self._node.stranger()

    def _prepare_to_join(self) -> None:
        """A kubelet that has a kubeconfig does not ask again, so the one of before goes."""
        if not self._invited.token:
            raise DeviceError("this host is no member, and no token was handed over")
        self._run(["systemctl", "stop", UNIT])
        for path in (KUBECONFIG, str(self._node.certificate)):
            files.remove(path)
        text = bootstrap(self._invited.server, self._invited.ca, self._invited.token)
        files.write_bytes(Path(BOOTSTRAP), text.encode(), 0o600, (0, 0))

    def forget(self) -> None:
        """Stop the kubelet and remove what it was started with, and as whom. What others use stays: the CA."""
        self._run(["systemctl", "disable", "--now", UNIT])
        for path in (KUBECONFIG, BOOTSTRAP, str(self._node.certificate), MAIN_CONFIG, DROP_IN):
            files.remove(path)
        self._run(["systemctl", "daemon-reload"])

    def _wait(self, begun_s: float) -> None:
        """Until the node is a Ready member with a verified certificate. The controller signs meanwhile."""
        deadline = time.monotonic() + self._place.timeout_s
        while problem := self._problem(begun_s):
            if time.monotonic() >= deadline:
                raise DeviceError(f"{problem} after {self._place.timeout_s:g} s: {self._last_words(begun_s)}")
            time.sleep(POLL_S)

    def _problem(self, begun_s: float) -> str:
        try:
            if why := self._no_member():
                return f"the kubelet is no member ({why})"
            found = self._node.look()
        except DeviceError as err:
            return str(err)
        if not found.ready or found.heard_s < int(begun_s):
            return "the node is not Ready"
        return serving(self._place.address, self._place.ca_file)

    def _last_words(self, begun_s: float) -> str:
        argv = ["journalctl", "-u", UNIT, "--since", f"@{begun_s:.3f}", "-o", "cat", "--no-pager"]
        said = [line for line in self._run(argv, ok=(0, 1)).out.splitlines() if "err=" in line]
        return sentence(said[-1]) if said else "nothing in its journal"


class Leaver:
    """A member that is to be none."""

    name = UNIT

    def __init__(self, member: Member, use: NodeUse) -> None:
        self._member, self._use = member, use

    def read(self) -> MemberState:
        """What is left of it; who asks to leave may be unable to prove who it is."""
        state = self._member.read()
        ours = {path: entry for path, entry in state.daemon.files.items() if path in (MAIN_CONFIG, DROP_IN)}
        daemon = replace(state.daemon, files=ours, current=True, fresh=True)
        return MemberState(daemon, state.member, False, state.why)

    def in_use(self) -> str:
        """Jobs and their pods, and what the gate knows of the node."""
        return self._use.busy() or self._member.held_by_gate()

    def apply(self, steps: Sequence[Step[MemberState]]) -> None:
        """The Node is deleted by whoever may; this host only forgets."""
        if any(step.payload[0] == DELETE for step in steps):
            raise DeviceError("the Node is still there, and this host may not delete it")
        self._member.forget()
