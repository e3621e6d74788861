# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What Prometheus scrapes, from the intent: files with targets, and jobs for scrape_config_files.

Targets are O(nodes), jobs O(node classes). A target is a name, or name/address: a rule takes it apart. So the nodes of
a unit share one entry, although each has a label of its own. Each class has a file, so that no job drops others' nodes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core import hostlist
from ..nodes.model import NodeClass, Nodes
from ..nodes.nics import RAILS
from .model import Telemetry
from .others import EXPORTERS, FILE, HOST, NODE_EXPORTER, OPERATION, RAIL

JOBS = "drawbridge.scrape.yml"
HOSTS = "hosts.json"
TOKEN = "slurm.token"
"""File with the token of a reader of slurmctld's metrics, if there are readers."""
INTERVAL_S, GPU_INTERVAL_S = 60, 30
SLURM_PATHS = ("nodes", "jobs", "partitions", "scheduler")
"""Users and accounts are left out: their series have no end."""
WIDE_SLURM = "slurm_node_(?:cpus|memory).*"
"""Series of each node that rules and dashboards do not read."""
NFS_OPERATIONS = "ACCESS|CLOSE|COMMIT|CREATE|GETATTR|LOOKUP|OPEN|READ|READDIR|REMOVE|RENAME|WRITE"
"""Of the sixty operations of NFS."""
OURS = ("drawbridge_.+", "gpfs_.+")
Json = dict[str, Any]
NO_RAIL: Json = {
    "source_labels": ["__name__", "rail"],
    "regex": "node_(?:network|pcidevice)_.+;",
    "action": "drop",
}
"""Hosts have network and PCI devices without number, so series of rails alone are kept."""


@dataclass(frozen=True)
class Hosts:
    """Hosts besides nodes that have node_exporter, and where slurmctld answers."""

    addresses: Mapping[str, str]
    """Address of each by name, empty: its name."""
    slurmctld: Sequence[str] = ()
    """Name or address of each controller."""
    slurmctld_port: int = 6817


def files(nodes: Nodes, settings: Telemetry, hosts: Hosts) -> dict[str, str]:
    """The text of each file by its name; none without C(prometheus)."""
    server = settings.prometheus
    if not server:
        return {}
    texts: dict[str, str] = {}
    jobs: list[Json] = []
    for name, here in sorted({part.node_class: nodes.class_at(part) for part in nodes.ranges}.items()):
        file = f"nodes-{name}.json"
        texts[file] = _json(_nodes(nodes, name))
        jobs.append(_node_job(name, f"{server.folder}/{file}", here, settings.node_exporter.port))
        port = here.gpus.made_by.exporter_port if server.gpu_port < 0 else server.gpu_port
        if here.gpus.count and port and here.gpus.vendor in EXPORTERS:
            jobs.append(_gpu_job(name, f"{server.folder}/{file}", here, port))
    if others := sorted(name for name in hosts.addresses if not nodes.range_of(name)):
        texts[HOSTS] = _json([{"targets": [_target(name, hosts.addresses[name]) for name in others]}])
        jobs.append(_host_job(f"{server.folder}/{HOSTS}", settings.node_exporter.port))
    if settings.slurm.openmetrics:
        token = f"{server.folder}/{TOKEN}" if settings.slurm.readers else ""
        jobs += [_slurm_job(path, hosts, token) for path in SLURM_PATHS]
    return {**texts, JOBS: _yaml(jobs)}


def _nodes(nodes: Nodes, node_class: str) -> list[Json]:
    """An entry for each unit of a class."""
    units: dict[str, list[str]] = {}
    for part in nodes.ranges:
        if part.node_class == node_class:
            names = hostlist.expand(part.names)
            addresses = hostlist.expand(part.addresses) if part.addresses else [""] * len(names)
            units.setdefault(part.unit, []).extend(map(_target, names, addresses))
    return [{"targets": units[unit], "labels": {"node_class": node_class, "unit": unit}} for unit in sorted(units)]


def _target(name: str, address: str) -> str:
    if not address or address == name:
        return name
    return f"{name}/{_bracketed(address)}"


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _node_job(name: str, file: str, here: NodeClass, port: int) -> Json:
    rules = [_kept(NODE_EXPORTER, OURS), *_rails(here), NO_RAIL]
    return _job(f"drawbridge-node-{name}", file, port, INTERVAL_S, ("instance", "node"), rules, honor=True)


def _gpu_job(name: str, file: str, here: NodeClass, port: int) -> Json:
    """The exporter's own name of the host is that of a pod, or says what `node` says."""
    of_rails = any(metric.unit == RAIL for metric in EXPORTERS[here.gpus.vendor].metrics)
    rdma = _rdma(here) if of_rails else ()
    rules = [
        _kept(here.gpus.vendor),
        *(_rail(f"(?:rdma|eth)_.+;{re.escape(device)}", ("rdma_dev_name",), rail) for rail, device in rdma),
        {"regex": "[Hh]ostname", "action": "labeldrop"},
    ]
    return _job(f"drawbridge-gpu-{name}", file, port, GPU_INTERVAL_S, ("instance", "node"), rules)


def _host_job(file: str, port: int) -> Json:
    """Its series have the label `node` only where they are about a node."""
    rules = [_kept(NODE_EXPORTER, OURS, (HOST, FILE))]
    return _job("drawbridge-hosts", file, port, INTERVAL_S, ("instance",), rules, honor=True)


def _job(
    name: str, file: str, port: int, seconds: int, labels: Iterable[str], rules: list[Json], honor: bool = False
) -> Json:
    """A job for the targets of a file. `honor`: a series' own labels win, such as `node` of a text file's series."""
    source = ["__address__"]
    return {
        "job_name": name,
        **({"honor_labels": True} if honor else {}),
        "scrape_interval": f"{seconds}s",
        "file_sd_configs": [{"files": [file]}],
        "relabel_configs": [
            *({"source_labels": source, "regex": "([^/]+).*", "target_label": label} for label in labels),
            {
                "source_labels": source,
                "regex": "(?:[^/]+/)?(.+)",
                "target_label": "__address__",
                "replacement": f"$1:{port}",
            },
        ],
        "metric_relabel_configs": rules,
    }


def _slurm_job(path: str, hosts: Hosts, token: str) -> Json:
    """A standby controller answers with a redirection: to follow it would read the other one twice."""
    return {
        "job_name": f"drawbridge-slurm-{path}",
        "honor_labels": True,
        "scrape_interval": f"{INTERVAL_S}s",
        "metrics_path": f"/metrics/{path}",
        "follow_redirects": False,
        **({"authorization": {"credentials_file": token}} if token else {}),
        "static_configs": [{"targets": [f"{_bracketed(host)}:{hosts.slurmctld_port}" for host in hosts.slurmctld]}],
        "relabel_configs": [
            {"source_labels": ["__address__"], "regex": "(.+):[0-9]+", "target_label": "instance"},
        ],
        "metric_relabel_configs": [{"source_labels": ["__name__"], "regex": WIDE_SLURM, "action": "drop"}],
    }


def _rails(here: NodeClass) -> list[Json]:
    """The label `rail` for the series of rails, and `priority` from names of ethtool's counters."""
    nics = here.nics_for(RAILS)
    rules: list[Json] = []
    for rail, device in _rdma(here):
        ports = _ports(here, rail)
        known = f"node_infiniband_.+;{re.escape(device)}|node_(?:ethtool|network)_.+;(?:{_any(ports)})"
        rules.append(_rail(known, ("device",), rail))
    for at, address in enumerate(nics.pci if nics else ()):
        place = ";".join(re.split("[:.]", address))
        rail = at // nics.ports_per_device if nics else 0
        rules.append(_rail(f"node_pcidevice_.+;{place}", ("segment", "bus", "device", "function"), rail))
    return [
        *rules,
        {
            "source_labels": ["__name__"],
            "regex": "node_ethtool_.+_(?:prio|priority|pri)_?([0-7])(?:_.+)?",
            "target_label": "priority",
        },
    ]


def _rdma(here: NodeClass) -> Iterable[tuple[int, str]]:
    nics = here.nics_for(RAILS)
    return enumerate(nics.rdma_devices if nics else ())


def _ports(here: NodeClass, rail: int) -> Sequence[str]:
    """The ports of a rail: several of a bond."""
    nics = here.nics_for(RAILS)
    return nics.ports[rail * nics.ports_per_device : (rail + 1) * nics.ports_per_device] if nics else ()


def _rail(regex: str, labels: tuple[str, ...], rail: int) -> Json:
    return {
        "source_labels": ["__name__", *labels],
        "regex": regex,
        "target_label": "rail",
        "replacement": str(rail),
    }


def _kept(exporter: str, more: Iterable[str] = (), units: Sequence[str] = ()) -> Json:
    """Series that the table has, all or those of some units, and of NFS' operations some."""
    known = [metric for metric in EXPORTERS[exporter].metrics if not units or metric.unit in units]
    some = "|".join(metric.name for metric in known if metric.unit == OPERATION)
    whole = "|".join([*more, *(name for metric in known if metric.unit != OPERATION for name in metric.names)])
    wanted = f"(?:{whole});.*" + (f"|(?:{some});(?:{NFS_OPERATIONS})" if some else "")
    return {"source_labels": ["__name__", "operation"], "regex": wanted, "action": "keep"}


def _any(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, words))


def _json(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=True) + "\n"


def _yaml(jobs: list[Json]) -> str:
    """One key a line; lists of mappings below their key. Strings are in quotes, as in JSON."""
    lines = ["# Written by Drawbridge. Name it in scrape_config_files of prometheus.yml.", "scrape_configs:"]
    for job in jobs:
        start = "  - "
        for key, value in job.items():
            if isinstance(value, list):
                lines.append(f"{start}{key}:" + ("" if value else " []"))
                lines += [f"      - {json.dumps(item)}" for item in value]
            else:
                lines.append(f"{start}{key}: {json.dumps(value)}")
            start = "    "
    return "\n".join(lines) + "\n"
