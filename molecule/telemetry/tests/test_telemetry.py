# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Real Prometheus and node_exporter: series of both ends of a cable, of jobs and of Slurm, and faults seen in them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from lab.hosts.paths import REPOSITORY, Paths
from tests.running import Lab

OWN = REPOSITORY / "molecule/telemetry/inventory"
LIMIT = "ctl,nsd1,gpu01,gpu02,leaf1,localhost"
HOSTS = ("ctl", "gpu01", "gpu02")
METRICS = "/run/drawbridge/metrics"
API = "http://127.0.0.1:9090/api/v1"
MANAGER = "http://127.0.0.1:9093/api/v2"
LONG_S = 600
"""Prometheus reads each host once in a minute."""
Labels = dict[str, str]


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab(Paths.of(), ("inventories/lab", str(OWN)))


def ask(lab: Lab, query: str) -> list[tuple[Labels, float]]:
    """The answer of Prometheus."""
    words = f"curl -fsS --data-urlencode {shlex.quote('query=' + query)} {API}/query"
    found = json.loads(lab.ssh("ctl", words))["data"]["result"]
    return [(it["metric"], float(it["value"][1])) for it in found]


def metrics(lab: Lab, host: str, file: str) -> list[str]:
    """The samples of a file of metrics."""
    return [line for line in lab.ssh(host, f"cat {METRICS}/{file}").splitlines() if not line.startswith("#")]


def test_each_host_is_read_and_prometheus_has_no_complaint(lab: Lab) -> None:
    def read() -> bool:
        return {labels["instance"] for labels, value in ask(lab, "up") if value} >= {*HOSTS}

    lab.wait("Prometheus reads all hosts", read, LONG_S)
    groups = json.loads(lab.ssh("ctl", f"curl -fsS {API}/rules"))["data"]["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert len(rules) > 50 and [rule["name"] for rule in rules if rule["health"] == "err"] == []
    managers = json.loads(lab.ssh("ctl", f"curl -fsS {API}/alertmanagers"))["data"]["activeAlertmanagers"]
    assert len(managers) == 1


@pytest.mark.parametrize("host", HOSTS)
def test_promtool_has_no_complaint_about_our_files(lab: Lab, host: str) -> None:
    files = lab.ssh(host, f"ls {METRICS}").split()
    assert ("gpfs.prom" in files) is (host != "ctl")
    assert ("slurm.prom" in files) is (host == "ctl")
    for file in files:
        text = lab.ssh(host, f"cat {METRICS}/{file}")
        said = lab.ssh("ctl", "promtool check metrics 2>&1 || true", stdin=text).splitlines()
        # the names of the exporter that sites know
        assert [line for line in said if "gpfs_waiter_info_count" not in line] == [], file


def test_all_rails_are_up_and_have_their_numbers(lab: Lab) -> None:
    lab.wait("rails in Prometheus", lambda: len(ask(lab, "drawbridge:rail_up:bool")) == 16, LONG_S)
    found = {(labels["node"], labels["rail"]): value for labels, value in ask(lab, "drawbridge:rail_up:bool")}
    assert found == {(node, str(rail)): 1 for node in ("gpu01", "gpu02") for rail in range(8)}


@pytest.fixture
def ignored(lab: Lab) -> Iterator[str]:
    """A rail of gpu02 whose adapter begins to ignore CNPs."""
    counter = "/sys/class/infiniband/mlx5_3/ports/1/hw_counters/rp_cnp_ignored"
    lab.ssh("gpu02", f"echo 0 > /run/ignored && mount --bind /run/ignored {counter}")
    yield "/run/ignored"
    lab.ssh("gpu02", f"umount {counter}")


def test_an_adapter_that_ignores_congestion_raises_its_alert(lab: Lab, ignored: str) -> None:
    beat = f"for n in $(seq 1000); do echo $((n * 100)) > {ignored}; sleep 2; done"
    lab.ssh("gpu02", f"systemd-run --quiet --unit=beat --collect sh -c {shlex.quote(beat)}")

    def rails(alerts: list[dict[str, Any]]) -> list[tuple[str, str]]:
        mine = [it["labels"] for it in alerts if it["labels"]["alertname"] == "DrawbridgeCnpIgnored"]
        return [(it["node"], it["rail"]) for it in mine]

    def pending() -> list[tuple[str, str]]:
        return rails(json.loads(lab.ssh("ctl", f"curl -fsS {API}/alerts"))["data"]["alerts"])

    def sent() -> list[tuple[str, str]]:
        return rails(json.loads(lab.ssh("ctl", f"curl -fsS {MANAGER}/alerts")))

    try:
        lab.wait("the alert", lambda: pending() == [("gpu02", "3")], LONG_S)
        # five minutes later: Prometheus sends alerts that fire, not those that are pending
        lab.wait("the alert in Alertmanager", lambda: sent() == [("gpu02", "3")], LONG_S)
    finally:
        lab.ssh("gpu02", "systemctl stop beat")


def test_a_job_is_joined_with_its_nodes(lab: Lab) -> None:
    job = lab.ssh("ctl", "sbatch --parsable -p hpc -w gpu01 -N1 --chdir=/tmp -o /dev/null --wrap 'sleep 900'").strip()
    try:
        lab.wait("the job runs", lambda: lab.ssh("ctl", f"squeue -h -j {job} -o %T").strip() == "RUNNING", LONG_S)
        lab.ssh("ctl", "systemctl start drawbridge-slurm-metrics.service")
        query = f'drawbridge:node_job{{job="{job}"}}'
        lab.wait("the job in Prometheus", lambda: ask(lab, query) != [], LONG_S)
        assert {labels["node"] for labels, _value in ask(lab, query)} == {"gpu01"}
        assert f"job {job}" in lab.ssh("ctl", f"drawbridge job {job}", check=False).lower()
    finally:
        lab.ssh("ctl", f"scancel {job}")


def test_a_drain_of_a_person_has_that_origin(lab: Lab) -> None:
    lab.ssh("ctl", "scontrol update nodename=gpu02 state=drain reason='fan \"2\" broken'")
    lab.ssh("ctl", "systemctl start drawbridge-slurm-metrics.service")
    [line] = [it for it in metrics(lab, "ctl", "slurm.prom") if it.startswith("drawbridge_slurm_node_drained_info{")]
    assert 'node="gpu02"' in line and 'origin="person"' in line and 'reason="fan \\"2\\" broken' in line
    lab.ssh("ctl", "scontrol update nodename=gpu02 state=resume")


def test_a_silent_slurmctld_leaves_no_old_values(lab: Lab) -> None:
    lab.ssh("ctl", "systemctl stop slurmctld")
    try:
        lab.ssh("ctl", "systemctl start drawbridge-slurm-metrics.service || true")
        assert metrics(lab, "ctl", "slurm.prom") == ["drawbridge_slurm_up 0"]
    finally:
        lab.ssh("ctl", "systemctl start slurmctld")
    lab.wait("slurmctld answers", lambda: "UP" in lab.ssh("ctl", "scontrol ping", check=False), LONG_S)


def test_a_port_of_a_switch_has_the_node_behind_it(lab: Lab) -> None:
    def up() -> bool:
        return 'drawbridge_switch_up{switch="leaf1"} 1' in metrics(lab, "ctl", "switches.prom")

    lab.wait("the switch is read", up, LONG_S)
    lines = metrics(lab, "ctl", "switches.prom")
    port = 'switch="leaf1",port="Ethernet12",node="gpu02",rail="3"'
    assert any(line.startswith("drawbridge_switch_pause_frames_total{" + port) for line in lines), lines[:20]


def test_a_second_run_changes_nothing(lab: Lab) -> None:
    run = lab.playbook("telemetry", "--limit", LIMIT)
    assert run.code == 0, run.output
    assert run.changed() == []
