# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Metrics in the intent: node_exporter's settings, programs of Drawbridge that write metrics, Prometheus' host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from ..core.options import FILE, HOSTS, Shape, option

URL = Shape(r"https?://[^\s/]+(/\S*)?", "a URL", "http:// or https:// and a host, such as http://ctl:9090")
UNIT = Shape(r"[A-Za-z0-9@_.-]{1,120}\.service", "a unit", "such as prometheus-node-exporter.service")
ACCOUNT = Shape(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}", "an account", "at most 32 letters, digits, dots, dashes, underscores")


@dataclass(frozen=True)
class NodeExporter:
    """The node_exporter that the site has on its hosts. Drawbridge adds flags to it, and installs none."""

    unit: str = option("its unit", "prometheus-node-exporter.service", pattern=UNIT)
    port: int = option("its port", 9100, low=1, high=65535)


@dataclass(frozen=True)
class SwitchReader:
    """The program that reads counters of switches. It writes nothing on them."""

    host: str = option("host of the inventory that reads all switches", pattern=HOSTS)
    user: str = option("account on the switches that may only read", pattern=ACCOUNT)
    seconds: int = option("seconds between two readings of a switch", 60, low=60, high=300)
    parallel: int = option("switches that are read at the same time", 4, low=1, high=32)
    python: str = option("Python with netmiko on that host", "/usr/bin/python3", pattern=FILE)
    left_out: str = option("hostlist of switches whose own export (OTLP, gNMI) Prometheus reads", "", hosts=HOSTS)


@dataclass(frozen=True)
class SlurmMetrics:
    """Metrics of Slurm. Those that releases before 25.11 lack come from a program on the controller."""

    openmetrics: bool = option("true: slurmctld has OpenMetrics (25.11 and later)", False)
    readers: tuple[str, ...] = option(
        "users whose tokens alone may read them (C(MetricsAuthUsers), 26.05 and later)", (), pattern=ACCOUNT
    )
    everyone: bool = option("true: all may read them although C(PrivateData) is set (26.05 and later)", False)


@dataclass(frozen=True)
class Prometheus:
    """The site's Prometheus. Drawbridge writes files that its configuration names, and installs none."""

    host: str = option("host of the inventory with its configuration", pattern=HOSTS)
    folder: str = option("folder for targets, scrapes and rules", "/etc/prometheus/drawbridge", pattern=FILE)
    unit: str = option("unit that reads changed files when it is reloaded", "prometheus.service", pattern=UNIT)
    url: str = option("URL at which its API answers (empty: jobs have no report of their metrics)", "", pattern=URL)
    ca_file: str = option("file with the CAs of an https URL's certificate (empty: the host's own)", "", pattern=FILE)
    gpu_port: int = option(
        "port of the GPU vendor's exporter on nodes (-1: the vendor's own default; 0: none)", -1, low=-1, high=65535
    )


@dataclass(frozen=True)
class Telemetry:
    """drawbridge_telemetry: who measures what, and where Prometheus finds it."""

    node_exporter: NodeExporter = option("node_exporter on the hosts", NodeExporter())
    switches: Optional[SwitchReader] = option("the reader of switches (absent: none)", None)
    slurm: SlurmMetrics = option("metrics of Slurm", SlurmMetrics())
    prometheus: Optional[Prometheus] = option("the site's Prometheus (absent: it is configured by hand)", None)
