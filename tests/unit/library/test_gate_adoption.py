# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.drawbridge.drawbridge.plugins.modules import gate_adoption

NODE = {"metadata": {"name": "gpu01", "resourceVersion": "1"}, "spec": {}}
ARGS = {"nodes": ["gpu01"], "infra_namespaces": ["kube-system"], "kubeconfig": "/x"}
KURED = {"metadata": {"name": "kured", "namespace": "kube-system"}, "spec": {"template": {"spec": {}}}}


def run(args: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    lists = {"/api/v1/nodes": [NODE], "/apis/apps/v1/daemonsets": [KURED]}

    def ask(method: str, path: str, _body: Any) -> tuple[int, dict[str, Any]]:
        assert method == "GET"
        kind = "DaemonSetList" if path.endswith("daemonsets") else "List"
        return 200, {"kind": kind, "items": lists.get(path, [])}

    monkeypatch.setattr(gate_adoption, "connect", lambda _: ask)
    with patch_module_args({**ARGS, **args, "_ansible_check_mode": True}), pytest.raises(SystemExit):
        gate_adoption.main()
    return json.loads(capsys.readouterr().out)


def test_a_fighter_is_refused_with_the_line_that_accepts_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run({"accepted": ["draino"]}, monkeypatch, capsys)
    (fault,) = result["faults"]
    assert result["failed"]
    assert fault.startswith("DaemonSet kube-system/kured drains and reboots nodes")
    assert fault.endswith("or set slurm_gate_accepted: ['draino', 'kured']")


def test_an_accepted_fighter_is_still_warned_of_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run({"accepted": ["kured"]}, monkeypatch, capsys)
    assert result["steps"] == ["close gpu01: drawbridge.io/slurm=closed"]
    assert result["changed"] and not result["pending"]
    assert "kube-system/kured does not tolerate drawbridge.io/slurm" in result["intolerant"][0]
