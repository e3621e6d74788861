# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action.kubelet_config import ActionModule
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils import controller_side

from tests.unit.module_utils.kube.kubelet.test_check import VIEW, good

COMMON = {"slurm_node": "gpu01", "api_server": "https://api:6443", "ca_file": "/ca.crt"}
COMMON |= {"view": VIEW["options"]}


VARIABLES = {"config": "kubelet_numa_settings"}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the action; returns its result and the data that it sent to the host."""

    def made(config: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        sent: list[dict[str, Any]] = []
        task = MagicMock(args={**COMMON, "config": config, "variables": VARIABLES}, check_mode=False, async_val=0)
        action = ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())
        monkeypatch.setattr(action, "_execute_module", lambda name, args, task_vars: sent.append(args) or {"host": 1})
        monkeypatch.setattr(controller_side.ActionBase, "run", lambda *args: {})
        return action.run(task_vars={}), sent

    return made


def test_a_good_one_goes_to_the_host_without_the_machine(run: Any) -> None:
    result, [sent] = run(good())
    assert result == {"host": 1}
    assert not {"machine", "derived"} & set(sent)


def test_a_wrong_one_reaches_no_host(run: Any) -> None:
    result, sent = run({**good(), "topologyManagerPolcy": "restricted", "cpuManagerPolicy": "statik"})
    assert (result["failed"], sent) == (True, [])
    assert len(result["faults"]) == 2
    assert result["faults"][0].startswith("kubelet_numa_settings.topologyManagerPolcy is ")


def test_shares_that_slurm_does_not_know_reach_no_host(run: Any) -> None:
    result, sent = run({**good(), "reservedSystemCPUs": "8-15,72-79"})
    assert (result.get("failed"), sent) == (True, [])
    [told] = result["faults"]
    assert told.startswith('kubelet_numa_settings.reservedSystemCPUs is "8-15,72-79", but Slurm')
