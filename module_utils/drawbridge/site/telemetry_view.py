# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Metrics in views: what each host measures, and what Prometheus reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..fabric.model import Fabric
from ..nodes.model import Nodes
from ..nodes.nics import RAILS
from ..slurm.config.settings import first_port
from ..slurm.model import Slurm
from ..telemetry import node_flags, scrape
from ..telemetry.exposition import METRICS
from ..telemetry.model import Telemetry

Json = dict[str, Any]


def telemetry(
    nodes: Nodes, filesystems: Mapping[str, Any], telemetry: Telemetry | None, fabric: Fabric | None, name: str
) -> Json:
    """What a host measures of itself; empty for a site without C(drawbridge_telemetry).

    C(node_exporter) has unit, folder and flags. C(filesystems) are the kinds that a node has.
    """
    if not telemetry:
        return {}
    part = nodes.by_name.get(name)
    rails = nodes.class_at(part).nics_for(RAILS) if part else None
    found = node_flags.flags(rails.ports if rails else (), rails.rdma_devices if rails else (), _lossless(fabric))
    exporter = {"unit": telemetry.node_exporter.unit, "folder": str(METRICS), "flags": found}
    return {"node_exporter": exporter, "filesystems": [*filesystems] if part else []}


def _lossless(fabric: Fabric | None) -> list[int]:
    if not fabric:
        return []
    storage = fabric.storage
    return [fabric.roce.priority, *([storage.priority] if storage and storage.lossless else [])]


def telemetry_prometheus(nodes: Nodes, slurm: Slurm, telemetry: Telemetry | None) -> Json:
    """Files for Prometheus: C(folder), C(unit), and C(files) with path and content; empty without its host."""
    server = telemetry.prometheus if telemetry else None
    if not (telemetry and server):
        return {}
    others = [slurm.controller, server.host, *([telemetry.switches.host] if telemetry.switches else [])]
    answers = slurm.controller_address or slurm.controller
    hosts = scrape.Hosts(dict.fromkeys(others, ""), [answers], int(first_port(slurm.settings)))
    texts = scrape.files(nodes, telemetry, hosts)
    files = [
        {"path": f"{server.folder}/{name}", "content": text, "passive": name.endswith(".json")}
        for name, text in texts.items()
    ]
    return {"folder": server.folder, "unit": server.unit, "files": files}


def telemetry_reports(telemetry: Telemetry | None) -> Json:
    """The configuration of reports of jobs: C(prometheus) and C(prometheus_ca); empty for a site without a URL."""
    server = telemetry.prometheus if telemetry else None
    return {"prometheus": server.url, "prometheus_ca": server.ca_file} if server and server.url else {}
