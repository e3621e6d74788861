# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api.host import Server
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    Outcome,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.daemon.plan import DaemonState
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member import io as adapter
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.io import (
    Bootstrap,
    Endpoint,
    Leaver,
    Member,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.plan import (
    NO_MEMBER,
    MemberState,
    leave,
    plan,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.node_object_io import (
    NodeObject,
    NodeStatus,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.use_io import NodeUse

DAEMON = DaemonState("kubelet.service", {})
WANT = MemberState(DAEMON, True, True)
TOKEN = "abcdef.0123456789abcdef"


class Unit:
    """The kubelet's unit, which is what the host makes of it."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def read(self) -> DaemonState:
        return replace(DAEMON, enabled=self.host.enabled, active=self.host.active)

    def apply(self, steps: Sequence[Any]) -> None:
        for step in steps:
            self.host.did(step.payload[0])


class Host:
    """A host whose kubelet bootstraps as soon as it is started with a bootstrap file."""

    def __init__(self, folder: Path, monkeypatch: Any) -> None:
        self.folder = folder
        self.enabled = self.active = False
        self.ran: list[str] = []
        self.answers, self.serves, self.gate, self.signs = True, True, "closed", True
        self.certificate, self.bootstrap = folder / "kubelet.pem", folder / "bootstrap"
        monkeypatch.setattr(adapter, "KUBECONFIG", str(folder / "kubelet.conf"))
        monkeypatch.setattr(adapter, "BOOTSTRAP", str(self.bootstrap))
        monkeypatch.setattr(adapter, "MAIN_CONFIG", str(folder / "config.yaml"))
        monkeypatch.setattr(adapter, "DROP_IN", str(folder / "drop-in"))
        monkeypatch.setattr(adapter, "POLL_S", 0)
        monkeypatch.setattr(adapter.files.os, "fchown", lambda *_: None)
        monkeypatch.setattr(adapter, "kubelet_serving_cert", lambda *_: "" if self.serves else "self-signed")
        monkeypatch.setattr(NodeObject, "read", lambda _: self.look())

    def look(self) -> NodeStatus:
        if not self.answers:
            raise DeviceError("no answer")
        return NodeStatus(True, self.gate, self.active, time.time() + 5)

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        if argv[0] == "journalctl":
            return Completed(0, 'E1 err="csr is waiting"', "")
        self.did(argv[1])
        return Completed(0, "", "")

    def did(self, verb: str) -> None:
        self.ran.append(verb)
        self.enabled = verb == "enable" or (self.enabled and verb != "disable")
        if verb in ("restart", "start", "refresh"):
            self.active = True
            if self.bootstrap.exists() and self.signs:
                assert json.loads(self.bootstrap.read_text())["users"][0]["user"]["token"] == TOKEN
                assert self.bootstrap.stat().st_mode & 0o777 == 0o600
                self.certificate.touch()
                Path(adapter.KUBECONFIG).touch()
        if verb in ("stop", "disable"):
            self.active = False

    def member(self, token: str = TOKEN) -> Member:
        node = NodeObject(Server("https://api:6443", "/ca"), self.certificate, "gpu01")
        place, invited = Endpoint("192.0.2.21", "/ca", 0), Bootstrap("https://api:6443", "PEM", token)
        return Member(place, Unit(self), node, self, invited)  # type: ignore[arg-type]

    def go(self, check: bool = False) -> Outcome:
        """Leave the cluster. No Slurm is here, and no job's pod."""
        use = NodeUse(self, "gpu01", self.folder / "pods", self.folder / "marker")
        leaver = Leaver(self.member(), use)
        return converge(leaver, leave, NO_MEMBER, check, in_use=leaver.in_use)


@pytest.fixture
def host(tmp_path: Path, monkeypatch: Any) -> Host:
    return Host(tmp_path, monkeypatch)


def test_a_bare_host_joins_and_forgets_the_token(host: Host) -> None:
    outcome = converge(host.member(), plan, WANT)
    assert (outcome.error, outcome.left) == ("", [])
    assert outcome.steps == ["enable kubelet.service", "join the cluster: it has no certificate"]
    assert not host.bootstrap.exists()
    host.ran.clear()
    assert converge(host.member(token=""), plan, WANT).steps == []
    assert host.ran == []


def test_without_a_token_nothing_is_started_and_the_error_names_what_the_kubelet_lacks(host: Host) -> None:
    outcome = converge(host.member(token=""), plan, WANT)
    assert "the action sent no token" in outcome.error
    assert not host.active
    host.signs = False
    error = converge(host.member(), plan, WANT).error
    assert error == "the kubelet is no member (it has no certificate) after 0 s: csr is waiting"


def test_a_certificate_that_no_client_can_verify_is_replaced(host: Host) -> None:
    converge(host.member(), plan, WANT)
    host.serves = False
    assert converge(host.member(""), plan, WANT, check=True).steps == [
        "get a serving certificate that the cluster has signed: self-signed"
    ]
    assert converge(host.member(""), plan, WANT, in_use=lambda: "Slurm job 7").pending[0].endswith("Slurm job 7")


def test_an_api_server_that_does_not_answer_is_no_reason_to_join(host: Host) -> None:
    converge(host.member(), plan, WANT)
    host.answers = False
    with pytest.raises(DeviceError, match="no answer"):
        converge(host.member(), plan, WANT)


def test_a_closed_node_leaves(host: Host, monkeypatch: Any) -> None:
    converge(host.member(), plan, WANT)
    assert host.go(check=True).steps[0] == "delete the Node"
    assert "this host may not delete it" in host.go().error
    monkeypatch.setattr(NodeObject, "read", lambda _: NodeStatus(False))
    outcome = host.go()
    assert (outcome.error, outcome.steps) == ("", ["stop the kubelet, and remove its identity"])
    assert not host.certificate.exists()
    assert host.go().steps == []


def test_a_node_that_a_job_holds_stays(host: Host) -> None:
    converge(host.member(), plan, WANT)
    host.gate = "vision.7"
    outcome = host.go()
    assert not outcome.changed
    assert all("drawbridge.io/slurm=vision.7" in step for step in outcome.pending)


def test_a_node_that_another_tool_has_joined_is_left_alone(host: Host) -> None:
    """kubeadm writes that file anew at each upgrade."""
    Path(adapter.MAIN_CONFIG).write_text("apiVersion: kubelet.config.k8s.io/v1beta1\n")
    with pytest.raises(DeviceError, match=r"set drawbridge_kube\.join: site"):
        host.member().read()
    assert host.ran == []
