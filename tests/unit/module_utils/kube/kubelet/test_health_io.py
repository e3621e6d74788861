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


def test_ready_since_the_start_with_more_patience_where_it_is_worth_it(health: Any) -> None:
    health().wait(100.5, Node(DeviceError("no answer yet"), ready(99), NodeStatus(True, heartbeat_s=101), ready(100)))

    told = Node(ready(99), ready(99), ready(101))
    health(timeout_s=0).wait(100.5, told, at_least_s=60)
    assert len(told.told) == 1


HARMLESS = 'E1 "no stats yet" err="harmless"\n'


@pytest.mark.parametrize(
    ("journal", "healthy", "heartbeat_s", "limit_s", "told"),
    [
        # a word from before the start is none
        ('E1 err="out of memory"', True, 99, 0, "is not Ready 0 s after its start: out of memory"),
        # it is Ready, and not yet healthy for long
        ("", True, 101, 0, "is not healthy 0 s after its start"),
        ("", False, 101, 0, "is not healthy 0 s after its start: nothing in its journal"),
        # it ends again and again, and the message names the cause
        (
            f'{HARMLESS}E1 "command failed" err="failed to run Kubelet: x"\n{HARMLESS}',
            False,
            101,
            0,
            ": failed to run Kubelet: x$",
        ),
        (f'{HARMLESS}E1 "Failed to run kubelet" err="x"\n{HARMLESS}', False, 101, 0, "after its start: x$"),
        *(
            (f'E1 err="x {said} y"', True, 101, 120, "contradicts its state files: x")
            for said in kubelet_health.STATE_ERRORS
        ),
    ],
)
def test_a_kubelet_that_stays_unhealthy_is_reported_with_its_error(
    health: Any, journal: str, healthy: bool, heartbeat_s: float, limit_s: float, told: str
) -> None:
    with pytest.raises(DeviceError, match=told):
        health(journal, healthy, limit_s).wait(100.5, Node(ready(heartbeat_s)))


def test_a_kubelet_that_ends_meanwhile_is_reported(tmp_path: Path) -> None:
    """The tests in test_io.py and test_text.py try all spellings of the command line."""
    with pytest.raises(DeviceError, match="exited while its command line was read"):
        missing_flag(tmp_path, Path("/etc/kubernetes/kubelet.conf.d/50-drawbridge.conf"))
