# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet import (
    health_io as kubelet_health,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.health_io import (
    Health,
    missing_flag,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.node_object_io import NodeStatus


class Node:
    """A member whose Node object tells one thing after the other."""

    member = True

    def __init__(self, *told: Any) -> None:
        self.told = list(told)

    def read(self) -> NodeStatus:
        told = self.told.pop(0) if len(self.told) > 1 else self.told[0]
        if isinstance(told, Exception):
            raise told
        return told


def ready(heartbeat_s: float) -> NodeStatus:
    return NodeStatus(True, "closed", True, heartbeat_s)


@pytest.fixture
def health(monkeypatch: Any) -> Any:
    monkeypatch.setattr(kubelet_health, "POLL_S", 0)

    def make(journal: str = "", healthy: bool = True, timeout_s: float = 120) -> Health:
        def run(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
            assert argv[:4] == ["journalctl", "-u", "kubelet.service", "--since"]
            return Completed(0, journal, "")

        made = Health(run, timeout_s)
        monkeypatch.setattr(Health, "ok", lambda self: healthy)
        return made

    return make


def test_ready_since_the_start(health: Any) -> None:
    health().wait(100.5, Node(DeviceError("no answer yet"), ready(99), NodeStatus(True, heartbeat_s=101), ready(100)))


def test_a_word_from_before_is_none(health: Any) -> None:
    with pytest.raises(DeviceError, match="is not Ready 0 s after its start: out of memory"):
        health('E1 err="out of memory"', timeout_s=0).wait(100.5, Node(ready(99)))


def test_one_that_is_ready_and_not_yet_healthy_for_long(health: Any) -> None:
    with pytest.raises(DeviceError, match="is not healthy 0 s after its start"):
        health(timeout_s=0).wait(100.5, Node(ready(101)))


def test_more_patience_where_it_is_worth_it(health: Any) -> None:
    told = Node(ready(99), ready(99), ready(101))
    health(timeout_s=0).wait(100.5, told, at_least_s=60)
    assert len(told.told) == 1


def test_an_unhealthy_one(health: Any) -> None:
    with pytest.raises(DeviceError, match="is not healthy 0 s after its start: nothing in its journal"):
        health(healthy=False, timeout_s=0).wait(100.5, Node(ready(101)))


@pytest.mark.parametrize(
    "fatal", ['"command failed" err="failed to run Kubelet: x"', '"Failed to run kubelet" err="x"']
)
def test_one_that_ends_again_and_again_is_told_by_what_it_ends_of(health: Any, fatal: str) -> None:
    harmless = 'E1 "no stats yet" err="harmless"'
    with pytest.raises(DeviceError, match=r"after its start: (failed to run Kubelet: )?x$"):
        health(f"{harmless}\nE1 {fatal}\n{harmless}", False, 0).wait(100.5, Node(ready(101)))


@pytest.mark.parametrize("said", kubelet_health.STATE_ERRORS)
def test_state_that_contradicts_is_no_health(health: Any, said: str) -> None:
    with pytest.raises(DeviceError, match="contradicts its state files: x"):
        health(f'E1 err="x {said} y"').wait(100.5, Node(ready(101)))


def test_one_that_ends_meanwhile_is_told(tmp_path: Path) -> None:
    """What it reads is tried with all ways to say it where it is asked, in test_kubelet."""
    with pytest.raises(DeviceError, match="exited while its command line was read"):
        missing_flag(tmp_path, Path("/etc/kubernetes/kubelet.conf.d/50-drawbridge.conf"))
