# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand: faults planted in the lab raise exactly their alerts in a real Prometheus, and repairs end them.

A minute of the rules is ten seconds long (tests/alerts/server.py).
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import V1Taint

from roles.slurm_gate.files.gate.gate_names import TAINT
from tests import stack
from tests.alerts.server import Firing, Prometheus, fire_and_stay, prometheus
from tests.waiting import until

from .conftest import Lab

NODES = ("gpu01", "gpu02", "gpu03", "gpu04")
HOSTS = ("ctl", *NODES)
CHECKER, LATE = "checker", "late-checker"
"""Hosts of a drift check, and of one whose timer is disabled."""
METRICS = "/run/drawbridge/metrics"
RAISED_S, STAY_S = 420, 25
"""The longest rule, with a busy machine. What must not fire has so long to do so."""
REPAIR = "/usr/local/lib/drawbridge/gate/repair.py"
DEFECT = "def repair_node(*words):\n    raise KeyError('planted')\n"
DAYS_AGO = 3 * 86400


class Mirror(threading.Thread):
    """Copies the text files of all hosts, so that no scrape waits for a login."""

    def __init__(self, lab: Lab, checks: Path) -> None:
        super().__init__(daemon=True)
        self.lab, self.checks, self.ends, self.folder = lab, checks, threading.Event(), METRICS
        self.texts: dict[str, str] = dict.fromkeys((*HOSTS, CHECKER, LATE), "")

    def run(self) -> None:
        while not self.ends.wait(1):
            for host in HOSTS:
                self.texts[host] = self.lab.ssh(host, f"cat {self.folder}/gate.prom", check=False)
            for host in (CHECKER, LATE):
                with contextlib.suppress(FileNotFoundError):
                    self.texts[host] = (self.checks / host).read_text()


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where drift checks write their metrics."""
    return tmp_path_factory.mktemp("checks")


@pytest.fixture(scope="module")
def mirror(checks: Path) -> Iterator[Mirror]:
    """The collector's side of all hosts."""
    found = Mirror(Lab(stack.PATHS), checks)
    found.start()
    yield found
    found.ends.set()
    found.join()


@pytest.fixture(scope="module")
def watched(mirror: Mirror, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Prometheus, which reads a healthy site."""
    with stack.impatient(NODES):
        until(lambda: stack.all_usable(NODES), 180, "all nodes are closed and in service")
        until(lambda: all(mirror.texts[host] for host in HOSTS), 120, "every host has metrics")
        reads: dict[str, Callable[[], str]] = {name: lambda name=name: mirror.texts[name] for name in mirror.texts}
        with prometheus(tmp_path_factory.mktemp("prometheus"), reads) as found:
            until(found.up, 60, "Prometheus has evaluated the rules")
            yield found


def raised(watched: Prometheus, *wanted: tuple[str, str]) -> None:
    """Exactly these alerts fire; the names are without their common beginning."""
    firing: Firing = {(f"Drawbridge{name}", host) for name, host in wanted}
    fire_and_stay(watched, firing, RAISED_S, STAY_S)


def checked(lab: Lab, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A drift check of one node's NICs, with its metrics."""
    monkeypatch.setenv("DRAWBRIDGE_REPORT_METRICS", str(into))
    lab.playbook("nic", "--check", "--limit", "gpu04")
    monkeypatch.delenv("DRAWBRIDGE_REPORT_METRICS")


def test_a_healthy_site_raises_none(watched: Prometheus) -> None:
    fire_and_stay(watched, set(), 120, 60)


def test_an_open_node_another_policy_and_a_dead_timer(watched: Prometheus) -> None:
    admission: Any = client.AdmissionregistrationV1Api(stack.api_client())
    policies = [it.metadata.name for it in admission.list_validating_admission_policy().items]
    name = next(it for it in policies if it.startswith("drawbridge"))
    taints = stack.kube().read_node("gpu01").spec.taints
    left = [taint for taint in taints if taint.key != TAINT] or None
    stack.glass().patch_node("gpu01", {"spec": {"taints": left}})
    admission.patch_validating_admission_policy(name, {"spec": {"failurePolicy": "Ignore"}})
    stack.ssh("gpu02", "systemctl stop drawbridge-gate.timer")
    try:
        raised(watched, ("NodeUnguarded", "gpu01"), ("PoliciesChanged", "ctl"), ("ReconcilerSilent", "gpu02"))
    finally:
        closed = V1Taint(effect="NoSchedule", key=TAINT, value="closed")
        stack.glass().patch_node("gpu01", {"spec": {"taints": [closed]}})
        stack.ssh("gpu02", "systemctl start drawbridge-gate.timer")
        stack.lab("administrator")
        repaired = Lab(stack.PATHS).playbook("gate")  # a policy's generation never comes back
    assert repaired.code == 0, repaired.output
    raised(watched)


def test_a_dirty_node_and_one_that_is_held_unchecked(watched: Prometheus) -> None:
    until(lambda: stack.all_usable(NODES), 180, "all nodes are closed and in service")
    dirty, held = (stack.quiet(f"-N1 -w {node}", stack.PATIENT) for node in ("gpu01", "gpu02"))
    until(lambda: stack.patient(dirty, "gpu01") and stack.patient(held, "gpu02"), 180, "both jobs run")
    known = f"grep 'held\"}} 1' {METRICS}/gate.prom || true"
    until(lambda: stack.ssh("gpu02", known), 120, "the reconciler has seen it held")
    stack.ssh("gpu02", "systemctl stop drawbridge-gate.timer")
    try:
        with stack.ghost("gpu01"):
            stack.finish(dirty)
            raised(watched, ("NodeDirty", "gpu01"), ("NodeHeldUnchecked", "gpu02"))
    finally:
        stack.ssh("gpu02", "systemctl start drawbridge-gate.timer")
        stack.finish(held)
    raised(watched)


def test_jobs_that_the_opener_refuses(watched: Prometheus) -> None:
    until(lambda: stack.all_usable(NODES), 180, "all nodes are closed and in service")
    stack.ssh("ctl", "scontrol update partitionname=ai-train oversubscribe=no")
    jobs = [stack.quiet(f"-N1 -w {node}", stack.PATIENT) for node in NODES[1:]]
    try:
        until(lambda: all("no whole nodes" in stack.comment(job) for job in jobs), 180, "all were refused")
        raised(watched, ("OpenerRefuses", "ctl"))
    finally:
        stack.ssh("ctl", "scontrol update partitionname=ai-train oversubscribe=exclusive")
        stack.ssh("ctl", f"scancel {' '.join(jobs)}")
    fire_and_stay(watched, set(), 2 * RAISED_S, STAY_S)


def test_a_crash(watched: Prometheus) -> None:
    before, count = stack.ssh("gpu03", f"base64 -w0 {REPAIR}"), f"grep 'crashed\"}}' {METRICS}/gate.prom"
    known = stack.ssh("gpu03", count)
    stack.ssh("gpu03", f"cat >> {REPAIR}", DEFECT)
    try:
        until(lambda: stack.ssh("gpu03", count) != known, 120, "a crash is counted")
    finally:
        stack.ssh("gpu03", f"echo {before} | base64 -d > {REPAIR}")
    raised(watched, ("GateCrashed", "gpu03"))


def test_checks_for_drift(watched: Prometheus, lab: Lab, checks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crash = ("GateCrashed", "gpu03")  # for an hour of the rules
    lab.tell("scontrol update nodename=gpu04 state=drain reason=drift")
    lab.ssh("gpu04", "mlnx_qos -i rail3 --pfc 0,0,0,0,0,1,0,0")
    try:
        checked(lab, checks / CHECKER, monkeypatch)
        raised(watched, crash, ("Drift", CHECKER))
        stack.lab("fault", "gpu04", "mlnx_qos", "refuse", "--times", "0")
        checked(lab, checks / CHECKER, monkeypatch)
        raised(watched, crash, ("DriftUnknown", CHECKER))
        stack.lab("fault", "gpu04", "--clear")
        assert lab.playbook("nic", "--limit", "gpu04").code == 0
        checked(lab, checks / CHECKER, monkeypatch)
        lines = (checks / CHECKER).read_text().splitlines()
        old = [f"{it.split()[0]} {time.time() - DAYS_AGO}" if it.startswith(STARTED) else it for it in lines]
        (checks / LATE).write_text("\n".join(old) + "\n")
        raised(watched, crash, ("DriftStale", LATE))
        (checks / LATE).write_text((checks / CHECKER).read_text())
    finally:
        lab.tell("scontrol update nodename=gpu04 state=undrain")


STARTED = "drawbridge_report_start_timestamp_seconds "


def test_no_metrics(watched: Prometheus, mirror: Mirror) -> None:
    """The collector reads another directory."""
    mirror.folder = "/run/elsewhere"
    fire_and_stay(watched, {("DrawbridgeNoMetrics", "")}, 3 * RAISED_S, STAY_S)
