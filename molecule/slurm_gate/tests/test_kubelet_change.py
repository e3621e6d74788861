# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A change of the kubelet's policy waits for the job, keeps others off while it is made, and lets them in again."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.running import Lab, Run

from .conftest import PATHS, all_closed, job_state, quiet, reason, ssh, state, until

DROP_IN = "/etc/kubernetes/kubelet.conf.d/50-drawbridge.conf"


def kubernetes(*options: str, **settings: Any) -> Run:
    given = json.dumps({"kubelet_numa_settings": settings})
    return Lab(PATHS).playbook("kubernetes", "--limit", "gpu01", "--extra-vars", given, *options)


@pytest.fixture
def seen() -> Iterator[set[str]]:
    """Reasons with which gpu01 was drained meanwhile."""
    found: set[str] = set()
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.2):
            found.add(reason("gpu01").partition(" [")[0])

    watch = threading.Thread(target=look)
    watch.start()
    yield found
    over.set()
    watch.join()


def test_it_waits_for_a_job_and_then_goes_through_on_a_drained_node(seen: set[str]) -> None:
    before = ssh("gpu01", f"cat {DROP_IN}; pidof kubelet")
    job = quiet("-N1 -w gpu01", "#!/bin/sh\nsleep 600\n")
    until(lambda: state("gpu01") == f"vision.{job}", 60, "the job holds the node")
    waits = kubernetes(topologyManagerPolicy="restricted")
    assert (waits.code, waits.changed()) == (0, [])
    assert f"Slurm job {job} is on this node; drain it and run this again" in json.dumps(waits.report)
    assert ssh("gpu01", f"cat {DROP_IN}; pidof kubelet") == before
    ssh("ctl", f"scancel {job}")
    until(all_closed, 60, "closed again")
    done = kubernetes(topologyManagerPolicy="restricted")
    assert done.code == 0, done.output
    steps = [step for found in done.steps().values() for step in found]
    assert steps[-1] == "drain the node, restart the kubelet with it, resume", "the topology manager keeps no state"
    assert "drawbridge kubelet: its configuration changes" in seen
    assert reason("gpu01") == ""
    again = quiet("-N1 -w gpu01", "#!/bin/sh\ntrue\n")
    until(lambda: job_state(again) == "COMPLETED", 60, "jobs come back")
    assert kubernetes().code == 0


def test_a_drain_of_somebody_else_stays() -> None:
    ssh("ctl", "scontrol update nodename=gpu01 state=drain reason='fan broken'")
    try:
        run = kubernetes(topologyManagerPolicy="restricted")
        assert run.changed(), run.output
        assert reason("gpu01").startswith("fan broken")
    finally:
        back = kubernetes()
        ssh("ctl", "scontrol update nodename=gpu01 state=undrain")
    assert back.code == 0, back.output
