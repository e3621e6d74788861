# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Targets and jobs of Prometheus. promtool sees them in tests/alerts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import Nodes, Range
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.model import (
    NodeExporter,
    Prometheus,
    SlurmMetrics,
    Telemetry,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.others import (
    EXPORTERS,
    FILE,
    NODE_EXPORTER,
    OPERATION,
    QUEUE,
    RAIL,
    RDMA,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.scrape import (
    NFS_OPERATIONS,
    Hosts,
    files,
)

from docs.metrics import FILES, Shape, rows
from tests.unit.module_utils.site.test_refused import site
from tests.unit.module_utils.telemetry.relabel import Labels, relabelled

LAB = load(site("lab")).nodes
SETTINGS = Telemetry(prometheus=Prometheus("ops"))
HOSTS = Hosts({"ctl": "", "ops": "10.0.0.9", "gpu01": ""}, ["ctl"])


def jobs(nodes: Nodes = LAB, settings: Telemetry = SETTINGS, hosts: Hosts = HOSTS) -> dict[str, Any]:
    text = files(nodes, settings, hosts)["drawbridge.scrape.yml"]
    return {job["job_name"]: job for job in yaml.safe_load(text)["scrape_configs"]}


def targets(text: str, job: dict[str, Any]) -> list[Labels]:
    """Labels of each target of a file, as a job has them."""
    found = [
        relabelled(job["relabel_configs"], {"__address__": target, **entry.get("labels", {})})
        for entry in json.loads(text)
        for target in entry["targets"]
    ]
    return [labels for labels in found if labels]


def series(job: dict[str, Any], name: str, **labels: str) -> Labels | None:
    found = relabelled(job["metric_relabel_configs"], {"__name__": name, **labels})
    return {key: value for key, value in found.items() if key != "__name__"} if found else None


def test_a_site_without_prometheus_has_no_files() -> None:
    assert files(LAB, Telemetry(), HOSTS) == {}


def test_each_node_is_one_target_with_name_class_and_unit() -> None:
    found = files(LAB, SETTINGS, HOSTS)
    assert sorted(found) == ["drawbridge.scrape.yml", "hosts.json", "nodes-h100.json"]
    job = jobs()["drawbridge-node-h100"]
    assert job["file_sd_configs"] == [{"files": ["/etc/prometheus/drawbridge/nodes-h100.json"]}]
    assert targets(found["nodes-h100.json"], job) == [
        {
            "__address__": f"{name}:9100",
            "instance": name,
            "node": name,
            "node_class": "h100",
            "unit": unit,
        }
        for name, unit in (("gpu01", "leaf1"), ("gpu02", "leaf1"), ("gpu03", "leaf2"), ("gpu04", "leaf2"))
    ]
    assert [it["__address__"] for it in targets(found["nodes-h100.json"], jobs()["drawbridge-gpu-h100"])] == [
        f"gpu0{at}:9400" for at in (1, 2, 3, 4)
    ]


def test_addresses_of_the_intent_are_used_and_names_stay() -> None:
    ranges = (
        Range("a[1-2]", "h100", "leaf1", "10.0.0.[1-2]"),
        Range("b1", "h100", "leaf1", "fd00::b1"),
        Range("c1", "h100", "leaf1", "c1"),
    )
    found = files(replace(LAB, ranges=ranges), SETTINGS, HOSTS)["nodes-h100.json"]
    assert [(it["node"], it["__address__"]) for it in targets(found, jobs()["drawbridge-node-h100"])] == [
        ("a1", "10.0.0.1:9100"),
        ("a2", "10.0.0.2:9100"),
        ("b1", "[fd00::b1]:9100"),
        ("c1", "c1:9100"),
    ]
    assert len(json.loads(found)) == 1


def test_hosts_have_no_label_node_and_nodes_among_them_are_scraped_once() -> None:
    found, job = files(LAB, SETTINGS, HOSTS)["hosts.json"], jobs()["drawbridge-hosts"]
    assert targets(found, job) == [
        {"__address__": "ctl:9100", "instance": "ctl"},
        {"__address__": "10.0.0.9:9100", "instance": "ops"},
    ]
    assert job["honor_labels"]


def test_series_of_a_device_get_the_number_of_its_rail() -> None:
    job = jobs()["drawbridge-node-h100"]
    name = "node_infiniband_np_cnp_packets_sent_total"
    assert series(job, name, device="mlx5_3") == {"device": "mlx5_3", "rail": "3"}
    assert series(job, name, device="mlx5_30") == {"device": "mlx5_30"}
    assert series(job, "node_network_up", device="rail7") == {"device": "rail7", "rail": "7"}
    assert series(job, "node_network_up", device="eth0") is None
    pause = series(job, "node_ethtool_received_prio3_pause", device="rail1")
    assert pause == {"device": "rail1", "rail": "1", "priority": "3"}


@pytest.mark.parametrize(
    ("name", "priority"),
    [
        ("node_ethtool_transmitted_prio5_pause", "5"),
        ("node_ethtool_received_prio3_pause_duration", "3"),
        ("node_ethtool_received_priority_4_xoff_nic", "4"),
        ("node_ethtool_port_received_xoff_prio_3_events", "3"),
        ("node_ethtool_transmitted_pfc_ena_frames_pri0", "0"),
        ("node_ethtool_received_discards_phy", None),
    ],
)
def test_the_priority_in_a_name_is_a_label_too(name: str, priority: str | None) -> None:
    found = series(jobs()["drawbridge-node-h100"], name, device="rail1")
    assert found and found.get("priority") == priority


def test_a_bond_is_one_rail_with_two_ports() -> None:
    (job,) = (it for name, it in jobs(load(site("example-bond")).nodes).items() if "-node-" in name)
    for device in ("ens1f0np0", "ens1f1np1"):
        assert series(job, "node_network_up", device=device) == {"device": device, "rail": "0"}
    assert series(job, "node_network_up", device="bond0") is None
    found = series(job, "node_infiniband_state_id", device="mlx5_bond_0")
    assert found == {"device": "mlx5_bond_0", "rail": "0"}


def test_pcie_links_of_nics_whose_address_is_known_are_kept() -> None:
    here = LAB.classes["h100"]
    nics = replace(here.nics[0], pci=tuple(f"0000:{at}8:00.0" for at in range(8)))
    job = jobs(replace(LAB, classes={"h100": replace(here, nics=(nics,))}))["drawbridge-node-h100"]
    name, place = "node_pcidevice_current_link_width", {"segment": "0000", "device": "00", "function": "0"}
    assert series(job, name, **place, bus="28") == {**place, "bus": "28", "rail": "2"}
    assert series(job, name, **place, bus="29") is None


@pytest.mark.parametrize(
    ("name", "labels", "kept"),
    [
        ("drawbridge_slurm_node_job_info", {"node": "gpu01"}, True),
        ("gpfs_perf_operations_total", {"operation": "opens"}, True),
        ("node_load1", {}, True),
        ("node_cpu_seconds_total", {"cpu": "0"}, False),
        ("node_load15", {}, False),
        ("node_mountstats_nfs_total_read_bytes_total", {"export": "nas:/home"}, True),
        ("node_mountstats_nfs_operations_requests_total", {"operation": "READ"}, True),
        ("node_mountstats_nfs_operations_requests_total", {"operation": "FS_LOCATIONS"}, False),
    ],
)
def test_series_that_rules_and_dashboards_read_are_kept(name: str, labels: Labels, kept: bool) -> None:
    assert (series(jobs()["drawbridge-node-h100"], name, **labels) is not None) == kept


def page(lossless: int, processors: int, devices: int) -> list[Labels]:
    """Series of a large host: those of the table, and families with many that are not."""
    found = [{"__name__": "node_cpu_seconds_total", "cpu": str(cpu), "mode": "idle"} for cpu in range(processors)]
    for metric in EXPORTERS[NODE_EXPORTER].metrics:
        name = metric.name.replace("[0-7]", str(lossless))
        if metric.unit == RDMA:
            found += [{"__name__": name, "device": f"mlx5_{at}"} for at in range(10)]
        elif name.startswith("node_network_"):
            found += [
                {"__name__": name, "device": device} for device in (*map("rail{}".format, range(8)), "lo", "eth0")
            ]
        elif name.startswith("node_pcidevice_"):
            place = {"segment": "0000", "device": "00", "function": "0"}
            found += [{"__name__": name, **place, "bus": f"{at:02x}"} for at in range(devices)]
        elif metric.unit in (RAIL, QUEUE):
            found += [{"__name__": name, "device": f"rail{at}"} for at in range(8) if not metric.instead]
        elif metric.unit == OPERATION:
            found += [{"__name__": name, "operation": operation} for operation in (*NFS_OPERATIONS.split("|"), "NULL")]
        else:
            found += [{"__name__": name, "file": str(at)} for at in range(FILES if metric.unit == FILE else 1)]
    return found


def test_of_a_wide_page_as_many_series_are_kept_as_the_budget_says() -> None:
    here = LAB.classes["h100"]
    nics = replace(here.nics[0], pci=tuple(f"0000:{at:02x}:00.0" for at in range(8)))
    job = jobs(replace(LAB, classes={"h100": replace(here, nics=(nics,))}))["drawbridge-node-h100"]
    found = page(lossless=3, processors=224, devices=100)
    assert len(found) > 900
    kept = [it for it in found if relabelled(job["metric_relabel_configs"], it)]
    assert len(kept) == rows(Shape())["node_exporter"]


def test_series_of_gpus_lose_the_exporters_name_of_the_host() -> None:
    job = jobs()["drawbridge-gpu-h100"]
    assert series(job, "DCGM_FI_DEV_GPU_UTIL", gpu="3", hostname="pod-7", Hostname="x") == {"gpu": "3"}
    assert series(job, "DCGM_FI_DEV_VGPU_LICENSE_STATUS", gpu="3") is None


def test_nodes_without_gpus_and_sites_without_their_exporter_have_no_job_for_it() -> None:
    without = replace(SETTINGS, prometheus=Prometheus("ops", gpu_port=0))
    assert "drawbridge-gpu-h100" not in jobs(settings=without)
    plain = replace(LAB.classes["h100"], gpus=replace(LAB.classes["h100"].gpus, numa=()))
    assert "drawbridge-gpu-h100" not in jobs(replace(LAB, classes={"h100": plain}))


@pytest.mark.parametrize(
    ("given", "wanted"), [(-1, ["gpu01:9400", "amd01:5000"]), (9410, ["gpu01:9410", "amd01:9410"])]
)
def test_each_vendors_exporter_has_its_own_port_unless_the_intent_has_one(given: int, wanted: list[str]) -> None:
    h100 = LAB.classes["h100"]
    amd = replace(h100, gpus=replace(h100.gpus, vendor="amd", type="mi300x", minors=tuple(range(128, 192, 8))))
    ranges = (LAB.ranges[0], Range("amd01", "mi300x", "leaf2"))
    nodes = replace(LAB, classes={"h100": h100, "mi300x": amd}, ranges=ranges)
    settings = replace(SETTINGS, prometheus=Prometheus("ops", gpu_port=given))
    texts, found = files(nodes, settings, HOSTS), jobs(nodes, settings)
    both = [targets(texts[f"nodes-{name}.json"], found[f"drawbridge-gpu-{name}"]) for name in nodes.classes]
    assert [first["__address__"] for first, *_others in both] == wanted


def test_slurmctld_is_scraped_where_it_has_metrics() -> None:
    assert not [name for name in jobs() if "slurm" in name]
    known = replace(SETTINGS, slurm=SlurmMetrics(openmetrics=True, everyone=True))
    found = jobs(settings=known, hosts=replace(HOSTS, slurmctld=["ctl1", "fd00::2"]))
    paths = ("nodes", "jobs", "partitions", "scheduler")
    assert {name: it["metrics_path"] for name, it in found.items() if "slurm" in name} == {
        f"drawbridge-slurm-{path}": f"/metrics/{path}" for path in paths
    }
    job = found["drawbridge-slurm-nodes"]
    assert job["static_configs"] == [{"targets": ["ctl1:6817", "[fd00::2]:6817"]}]
    assert (job["scrape_interval"], job["follow_redirects"]) == ("60s", False)
    assert series(job, "slurm_node_cpus_alloc", node="gpu01") is None
    assert series(job, "slurm_nodes_idle") == {}


def test_a_readers_token_is_in_a_file() -> None:
    known = replace(SETTINGS, slurm=SlurmMetrics(openmetrics=True, readers=("prometheus",)))
    job = jobs(settings=known)["drawbridge-slurm-jobs"]
    assert job["authorization"] == {"credentials_file": "/etc/prometheus/drawbridge/slurm.token"}


def test_ports_and_folder_are_the_intents() -> None:
    other = replace(
        SETTINGS, node_exporter=NodeExporter(port=9101), prometheus=Prometheus("ops", folder="/srv/p", gpu_port=9401)
    )
    found = jobs(settings=other)
    text = files(LAB, other, HOSTS)["nodes-h100.json"]
    assert found["drawbridge-gpu-h100"]["file_sd_configs"] == [{"files": ["/srv/p/nodes-h100.json"]}]
    assert targets(text, found["drawbridge-gpu-h100"])[0]["__address__"] == "gpu01:9401"
    assert targets(text, found["drawbridge-node-h100"])[0]["__address__"] == "gpu01:9101"


def test_the_text_of_jobs_does_not_grow_with_nodes() -> None:
    units = [Range(f"n{unit:03}-[00001-00040]", "h100", f"leaf{unit}") for unit in range(250)]
    few, many = (files(replace(LAB, ranges=tuple(units[:some])), SETTINGS, HOSTS) for some in (1, 250))
    assert few["drawbridge.scrape.yml"] == many["drawbridge.scrape.yml"]
    assert len(json.loads(many["nodes-h100.json"])) == 250
    assert len(many["nodes-h100.json"]) < 10_000 * 24
    assert files(replace(LAB, ranges=tuple(reversed(units))), SETTINGS, HOSTS) == many
