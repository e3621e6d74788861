# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""This host as a member of the cluster: the kubelet's unit and files, its identity, its Node."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...core import files
from ...core.command import Run
from ...core.converge import DeviceError, Step
from ...core.layer import Unknown
from ...nodes.use_io import NodeUse
from ..kubelet.health_io import journal, last_error
from ..node_object_io import NodeObject
from ..unit_io import KubeUnit
from .kubelet_serving_cert_io import kubelet_serving_cert
from .plan import CERTIFY, DELETE, JOIN, MemberState, findings
from .text import BOOTSTRAP, DROP_IN, HEADER, KUBECONFIG, MAIN_CONFIG, UNIT, bootstrap

POLL_S = 0.5
STARTS = frozenset({"start", "restart", "refresh"})


@dataclass(frozen=True)
class Endpoint:
    """The kubelet's address, the CA of its certificate, and the time limit for becoming Ready."""

    address: str
    ca_file: str
    timeout_s: float


@dataclass(frozen=True)
class Bootstrap:
    """What a kubelet needs to join: the API server, its CA, and a bootstrap token."""

    server: str
    ca: str
    token: str


class Member:
    """This host. Without a token it can't join."""

    def __init__(self, at: Endpoint, unit: KubeUnit, node: NodeObject, run: Run, bootstrap: Bootstrap) -> None:
        self._at, self._unit, self._node, self._run, self._bootstrap = at, unit, node, run, bootstrap

    name = UNIT

    def read(self) -> MemberState:
        """Read unit and files, then this host's Node, then verify the kubelet's certificate as the API server does."""
        if self._bootstrap.ca and Path(MAIN_CONFIG).exists() and not Path(MAIN_CONFIG).read_text().startswith(HEADER):
            cause = f"{MAIN_CONFIG} is not Drawbridge's, so this host was joined by other means"
            raise DeviceError(f"{cause}; set drawbridge_kube.join: site, or move the file away to start anew")
        found = self._unit.read()
        why = self._no_member()
        if why:
            return MemberState(found, False, False, why)
        wrong = self._certificate_fault() if found.active else "the kubelet does not run"
        return MemberState(found, True, not wrong, wrong)

    def held_by_gate(self) -> str:
        """Why the node can't leave the cluster now; a host that is no member can."""
        return "" if self._no_member() else self._node.read().in_use

    def apply(self, steps: Sequence[Step[MemberState]]) -> None:
        """Write files and enable the unit, start the kubelet, and wait until the node is Ready and certified."""
        verbs = {step.payload[0] for step in steps}
        if JOIN in verbs:
            self._prepare_to_join()
        begun_s = time.time()
        own = [step for step in steps if step.payload[0] not in (JOIN, CERTIFY)]
        self._unit.apply([Step(step.reason, lambda state: state, step.payload) for step in own])
        if JOIN in verbs or (CERTIFY in verbs and not verbs & STARTS):
            self._run(["systemctl", "restart", UNIT])
        if verbs & {JOIN, CERTIFY, *STARTS}:
            self._wait(begun_s)
            files.remove(BOOTSTRAP)

    def _no_member(self) -> str:
        if not self._node.member:
            return "it has no certificate"
        if not Path(KUBECONFIG).exists():
            return f"it has no {KUBECONFIG}"
        return self._node.not_accepted()

    def _prepare_to_join(self) -> None:
        """Remove the old kubeconfig: a kubelet that has one requests no new certificate."""
        if not self._bootstrap.token:
            raise DeviceError("this host is no member, and the action sent no token")
        self._run(["systemctl", "stop", UNIT])
        for path in (KUBECONFIG, str(self._node.certificate)):
            files.remove(path)
        text = bootstrap(self._bootstrap.server, self._bootstrap.ca, self._bootstrap.token)
        files.write_bytes(Path(BOOTSTRAP), text.encode(), 0o600, (0, 0))

    def clean(self) -> None:
        """Stop the kubelet; remove its files and identity. The CA stays, because others use it."""
        self._run(["systemctl", "disable", "--now", UNIT])
        for path in (KUBECONFIG, BOOTSTRAP, str(self._node.certificate), MAIN_CONFIG, DROP_IN):
            files.remove(path)
        self._run(["systemctl", "daemon-reload"])

    def _wait(self, begun_s: float) -> None:
        """Wait for a Ready member with a verified certificate. Meanwhile the action approves its requests."""
        deadline = time.monotonic() + self._at.timeout_s
        while problem := self._problem(begun_s):
            if time.monotonic() >= deadline:
                cause = last_error(journal(self._run, begun_s))
                raise DeviceError(f"{problem} after {self._at.timeout_s:g} s: {cause}")
            time.sleep(POLL_S)

    def _problem(self, begun_s: float) -> str:
        try:
            if why := self._no_member():
                return f"the kubelet is no member ({why})"
            found = self._node.read()
        except DeviceError as err:
            return str(err)
        if not found.ready or found.heartbeat_s < int(begun_s):
            return "the node is not Ready"
        return self._certificate_fault()

    def _certificate_fault(self) -> str:
        return kubelet_serving_cert(self._at.address, self._at.ca_file)


class Leaver:
    """A member that leaves the cluster."""

    name = UNIT

    def __init__(self, member: Member, use: NodeUse) -> None:
        self._member, self._use = member, use

    def read(self) -> MemberState:
        """Files and Node that remain; the kubelet's certificate may be invalid already."""
        state = self._member.read()
        own = {path: entry for path, entry in state.daemon.files.items() if path in (MAIN_CONFIG, DROP_IN)}
        daemon = replace(state.daemon, files=own, current=True, fresh=True)
        return MemberState(daemon, state.member, False, state.why)

    def in_use(self) -> str:
        """Why the node can't leave: a job, a job's pod, or the gate's taint."""
        return self._use.busy() or self._member.held_by_gate()

    def apply(self, steps: Sequence[Step[MemberState]]) -> None:
        """Remove this host's own files. The action has deleted the Node before."""
        if any(step.payload[0] == DELETE for step in steps):
            raise DeviceError("the Node still exists, and this host may not delete it")
        self._member.clean()


class JoinedBySite:
    """A member that the site has joined: it is only checked.

    Check mode can't judge it, because an earlier step may start the kubelet.
    """

    name = UNIT

    def __init__(self, member: Member, params: Mapping[str, Any]) -> None:
        self._member, self._params = member, params

    def read(self) -> MemberState:
        """Raises Unknown with the faults, if there are any."""
        try:
            state = self._member.read()
            found = findings(state, self._params)
        except DeviceError as err:
            raise Unknown(str(err)) from err
        if found:
            raise Unknown("\n".join(found))
        return state

    def apply(self, steps: Sequence[Step[MemberState]]) -> None:
        """Its plan has no steps."""
