# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action.kube_member import ActionModule
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils import controller_side, kube_member

CLUSTER = {"name": "c", "cluster": {"certificate-authority-data": base64.b64encode(b"PEM").decode()}}
KUBECONFIG = {"clusters": [CLUSTER], "contexts": [{"name": "x", "context": {"cluster": "c"}}], "current-context": "x"}
NOTHING: dict[str, Any] = {"changed": False, "steps": []}
JOIN: dict[str, Any] = {"changed": True, "steps": ["enable", "join the cluster: it has no certificate"], "diff": {}}
CLOSED = [{"key": "drawbridge.io/slurm", "value": "closed", "effect": "NoSchedule"}]


class Api:
    """Answers by method and path, and the requests."""

    def __init__(self, minor: str = "36", taints: Any = CLOSED) -> None:
        self.minor, self.taints = minor, taints
        self.calls: list[tuple[str, str]] = []
        self.bodies: list[Any] = []

    def __call__(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        self.calls.append((method, path))
        self.bodies.append(body)
        if path == "/version":
            return 200, {"major": "1", "minor": self.minor}
        if path.startswith("/api/v1/nodes/") and method == "GET":
            return 200, {"metadata": {"uid": "u", "resourceVersion": "9"}, "spec": {"taints": self.taints}}
        return 200, {"items": []}


VARIABLES = {"config": "kube_node_kubelet", "numa_config": "kubelet_numa_settings", "address": "kube_node_address"}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Run the action against a host that answers as told; its result, the data that it sent, and the API's calls."""
    import yaml

    (tmp_path / "config").write_text(yaml.safe_dump(KUBECONFIG))

    def made(*told: dict[str, Any], api: Any = None, check: bool = False, **change: Any) -> Any:
        api, answers, sent = api or Api(), list(told), []
        args = {"name": "gpu01", "address": "192.0.2.21", "api_server": "https://api", "ca_file": "/ca.crt"}
        birth = {"registerWithTaints": CLOSED}
        args = {**args, "kubeconfig": str(tmp_path / "config"), "config": birth, "variables": VARIABLES, **change}
        task = MagicMock(args=args, check_mode=check, async_val=0)
        action = ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())

        def execute(name: str, args: dict[str, Any], task_vars: Any) -> dict[str, Any]:
            sent.append({**args, "check": task.check_mode})
            assert answers, "the host is asked once more than it should be"
            return dict(answers.pop(0))

        monkeypatch.setattr(action, "_execute_module", execute)
        monkeypatch.setattr(kube_member, "connect", lambda kubeconfig: api)
        monkeypatch.setattr(controller_side.ActionBase, "run", lambda *args: {})
        return action.run(task_vars={}), sent, api

    return made


@pytest.mark.parametrize(("told", "check"), [(NOTHING, False), (JOIN, True)])
def test_a_good_member_and_check_mode_cost_one_look(run: Any, told: dict[str, Any], check: bool) -> None:
    result, sent, api = run(told, check=check)
    assert (result, len(sent), api.calls) == (told, 1, [])
    assert (sent[0]["check"], sent[0]["ca"], "token" in sent[0]) == (True, "PEM", False)
    assert "kubeconfig" not in sent[0]


def test_a_name_is_no_address_and_the_host_is_not_asked(run: Any) -> None:
    result, sent, _ = run(address="gpu01.example.org")
    assert result["failed"] and sent == []
    assert "kube_node_address is 'gpu01.example.org', but the kubelet's certificate is for an IP" in result["msg"]


@pytest.mark.parametrize("change", [{"join": False}, {"state": "absent"}], ids=["the site joins", "leaves"])
def test_without_a_requested_certificate_a_name_will_do(run: Any, change: dict[str, Any]) -> None:
    assert run(NOTHING, address="gpu01.example.org", **change)[0] == NOTHING


def test_only_who_joins_gets_a_token_and_it_is_deleted(run: Any) -> None:
    _, sent, api = run(JOIN, NOTHING)
    secret = api.bodies[1]["stringData"]
    assert sent[1]["token"] == f"{secret['token-id']}.{secret['token-secret']}"
    assert sent[1]["check"] is False
    assert api.calls[-1][0] == "DELETE"
    _, sent, api = run({**JOIN, "steps": ["write /a", "restart kubelet.service"]}, NOTHING)
    assert "token" not in sent[1]
    assert not any(method == "POST" for method, _ in api.calls)


def test_a_kubelet_newer_than_its_api_server_is_refused(run: Any) -> None:
    result, sent, _ = run(JOIN, api=Api(minor="35+"), version="1.36.3-1.1")
    assert "kubelet 1.36.3-1.1, but the API server is 1.35" in result["msg"]
    assert len(sent) == 1


def test_a_misspelt_key_reaches_no_host(run: Any) -> None:
    result, sent, _ = run(config={"registerWithTaints": CLOSED, "maxPod": 9, "cpuManagerPolicy": "static"})
    assert (len(result["faults"]), sent) == (2, [])
    assert "write it to kubelet_numa_settings" in result["faults"][0]


@pytest.mark.parametrize("birth", [{}, {"registerWithTaints": [{"key": "own", "effect": "NoSchedule"}]}])
def test_a_node_that_would_be_born_open_is_not_joined(run: Any, birth: dict[str, Any]) -> None:
    result, sent, _ = run(config=birth)
    assert (len(result["faults"]), sent) == (1, [])
    assert "kube_node_kubelet.registerWithTaints is " in result["faults"][0]
    assert run(NOTHING, config=birth, join=False)[0] == NOTHING
    assert run(NOTHING, config=birth, state="absent")[0] == NOTHING


GONE: dict[str, Any] = {"changed": True, "steps": ["delete the Node", "stop the kubelet"], "diff": {"before": "x"}}


def test_a_closed_node_is_deleted_as_it_was_seen(run: Any) -> None:
    result, sent, api = run(GONE, {"changed": True, "steps": ["stop the kubelet"]}, state="absent")
    assert result["steps"] == GONE["steps"]
    assert api.bodies[-1]["preconditions"] == {"uid": "u", "resourceVersion": "9"}
    assert len(sent) == 2


class Busy(Api):
    """Another controller writes to the Node between a look and the next deletion, some times."""

    def __init__(self, writes: int, then: Any = CLOSED) -> None:
        super().__init__()
        self.writes, self.then = writes, then

    def __call__(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        answer = super().__call__(method, path, body)
        if method != "DELETE" or not self.writes:
            return answer
        self.writes, self.taints = self.writes - 1, self.then
        return 409, {"message": "the object has been modified"}


def test_a_node_whose_status_was_written_meanwhile_is_looked_at_again(run: Any) -> None:
    result, sent, api = run(GONE, NOTHING, state="absent", api=Busy(writes=2))
    assert (result["steps"], len(sent)) == (GONE["steps"], 2)
    assert [method for method, _ in api.calls] == ["GET", "DELETE"] * 3


def test_a_node_that_is_written_all_the_time_stays(run: Any) -> None:
    result, sent, _ = run(GONE, state="absent", api=Busy(writes=99))
    assert "was not deleted: the object has been modified" in result["msg"]
    assert len(sent) == 1


HELD = [{"key": "drawbridge.io/slurm", "value": "vision.7"}]


@pytest.mark.parametrize(
    ("api", "asked"), [(Api(taints=HELD), ["GET"]), (Busy(writes=1, then=[]), ["GET", "DELETE", "GET"])]
)
def test_a_node_that_was_opened_meanwhile_stays(run: Any, api: Api, asked: list[str]) -> None:
    """Before the first look, or between it and the deletion."""
    result, sent, _ = run(GONE, state="absent", api=api)
    assert "is not closed and was not deleted" in result["msg"]
    assert (len(sent), [method for method, _ in api.calls]) == (1, asked)


def test_a_kubeconfig_without_a_ca_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("{}")
    with pytest.raises(DeviceError, match="names no CA certificate of its cluster"):
        kube_member.authority(tmp_path / "config")
