# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Views of metrics, of the lab's intent."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.telemetry_view import (
    telemetry,
    telemetry_prometheus,
    telemetry_reports,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.model import (
    Prometheus,
    SwitchReader,
    Telemetry,
)

from tests.unit.module_utils.site.test_refused import site

LAB = load(site("lab"))
SERVER = Telemetry(prometheus=Prometheus("mon1"))


def flags(name: str, fabric: object = LAB.fabric) -> str:
    """All flags of a host."""
    found = telemetry(LAB.nodes, {"gpfs": None}, SERVER, fabric, name)["node_exporter"]["flags"]  # type: ignore[arg-type]
    return " ".join(flag for group in found for flag in group["flags"])


def test_a_node_has_flags_for_its_rails_and_lossless_priorities() -> None:
    assert "rail7" in flags("gpu01") and "prio[3]_pause" in flags("gpu01")
    assert LAB.fabric
    stored = replace(LAB.fabric, storage=Storage(priority=4, dscp=34, lossless=True))
    assert "prio[34]_pause" in flags("gpu01", stored)
    assert "prio[01234567]_pause" in flags("gpu01", None)


def test_another_host_has_no_rails() -> None:
    assert "rail" not in flags("ctl") and "collector.textfile.directory" in flags("ctl")


@pytest.mark.parametrize(
    ("name", "kinds", "found"), [("gpu01", ["gpfs"], ["gpfs"]), ("gpu01", ["nfs"], ["nfs"]), ("ctl", ["gpfs"], [])]
)
def test_file_systems_are_measured_on_nodes(name: str, kinds: list[str], found: list[str]) -> None:
    assert telemetry(LAB.nodes, dict.fromkeys(kinds), SERVER, LAB.fabric, name)["filesystems"] == found


def test_without_metrics_in_the_intent_there_is_nothing() -> None:
    assert telemetry(LAB.nodes, {}, None, LAB.fabric, "gpu01") == {}
    assert telemetry_prometheus(LAB.nodes, LAB.slurm, None) == telemetry_reports(None) == {}
    assert telemetry_prometheus(LAB.nodes, LAB.slurm, Telemetry()) == telemetry_reports(SERVER) == {}


def test_prometheus_reads_nodes_and_the_hosts_of_programs() -> None:
    wanted = replace(SERVER, switches=SwitchReader("net1", "reader"))
    found = telemetry_prometheus(LAB.nodes, LAB.slurm, wanted)
    assert (found["folder"], found["unit"]) == ("/etc/prometheus/drawbridge", "prometheus.service")
    texts = {it["path"]: it["content"] for it in found["files"]}
    assert '"gpu04"' in texts["/etc/prometheus/drawbridge/nodes-h100.json"]
    hosts = texts["/etc/prometheus/drawbridge/hosts.json"]
    assert all(f'"{name}"' in hosts for name in ("ctl", "mon1", "net1"))


def test_reports_of_jobs_need_an_address() -> None:
    answers = Telemetry(prometheus=Prometheus("mon1", url="https://mon1:9090", ca_file="/etc/ssl/own.pem"))
    assert telemetry_reports(answers) == {"prometheus": "https://mon1:9090", "prometheus_ca": "/etc/ssl/own.pem"}
