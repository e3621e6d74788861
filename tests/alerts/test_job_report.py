# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports of jobs by a real Prometheus, which has samples of an odd job, of a healthy one, and of their neighbours."""

from __future__ import annotations

import re
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job import report
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.lines import (
    EMPTY,
    GROUPS,
    Report,
    lines,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.numbers import Numbers
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.prometheus_io import (
    Prometheus,
    answers,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.queries import (
    CONGESTED,
    RATE_S,
    SCRAPE_S,
    queries,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.text import Job

from tests.alerts.promtool import program, promtool
from tests.conformance.tree import ROOT
from tests.processes import end

RECORDING = ROOT / "examples/prometheus/drawbridge.recording.rules.yml"
START, RUN_S, STEP_S = 1767225600, 3600, 30
PATIENCE_S = 120.0
ODD, HEALTHY, OTHER = ("gpu01", "gpu02"), ("gpu03", "gpu04"), ("gpu05",)
"""Nodes of the odd job, of the healthy job, and of a job with worse numbers at the same time."""
ALL = (*ODD, *HEALTHY, *OTHER)
NUMBERS = ("0", "1", "2", "3")
"""GPUs and rails."""


def gauges(at: int, node: str, gpu: str) -> Iterator[tuple[str, float]]:
    """Recorded gauges of a GPU and of the rail with the same number. A value may be a minute old."""
    shown = at - SCRAPE_S
    runs = START <= shown <= START + RUN_S and node not in OTHER
    idle = (node, gpu) == ("gpu02", "3") and shown < START + 0.8 * (RUN_S - SCRAPE_S)
    yield "gpu_busy:ratio", 0.95 if runs and not idle else 0.0
    yield "gpu_power:watts", 600.0 if runs and not idle else 90.0
    yield "gpu_sm_active:ratio", 0.6
    yield "gpu_temperature:celsius", 50.0
    # the job before filled the memory, and the GPU keeps its last Xid
    yield "gpu_memory_used:ratio", 0.7 if runs else 0.99
    yield "gpu_memory_used:bytes", (70 if runs else 99) * 2.0**30
    yield "gpu_xid:last", 79.0 if (node, gpu) == ("gpu01", "2") and shown >= START + 1800 else 13.0
    yield "rail_up:bool", 0.0 if (node, gpu) == ("gpu02", "0") and START + 900 <= shown < START + 1260 else 1.0


def rates(at: int, node: str, rail: str) -> Iterator[tuple[str, float]]:
    """Recorded rates of a rail. They show the job alone after five minutes; before and after, others caused pauses."""
    runs = START + RATE_S <= at <= START + RUN_S and node not in OTHER
    slow = (node, rail) == ("gpu01", "3")
    yield "rail_sent:bytes_rate5m", 4e9 if slow and runs else 12e9
    yield "rail_received:bytes_rate5m", 11e9
    odd = {"pause_received": 400.0 if (node, rail) == ("gpu02", "1") else 0.0, "cnp_handled": 20.0}
    for name in CONGESTED:
        yield f"rail_{name}:rate5m", odd.get(name, 0.0) if runs else 5000.0


def samples() -> str:
    """All series in the text format of OpenMetrics."""
    series: dict[str, dict[str, list[str]]] = {}

    def put(name: str, labels: str, at: int, value: float) -> None:
        series.setdefault(f"drawbridge:{name}", {}).setdefault(labels, []).append(f"{value} {at}")

    for at in range(START - 600, START + RUN_S + 600, STEP_S):
        for node in ALL:
            for number in NUMBERS:
                for name, value in gauges(at, node, number):
                    kind = "rail" if name.startswith("rail") else "gpu"
                    put(name, f'{{node="{node}",{kind}="{number}"}}', at, value)
                for name, value in rates(at, node, number):
                    put(name, f'{{node="{node}",rail="{number}"}}', at, value)
            runs = START + RATE_S <= at <= START + RUN_S
            put("storage_read:bytes_rate5m", f'{{node="{node}",fs="scratch"}}', at, 3e8 if runs else 9e9)
        for port, rate in (("swp3", 0.5), ("swp2", 0.0)):
            labels = f'{{switch="leaf1",port="{port}",node="gpu01",rail="{port[-1]}",priority="3"}}'
            put("port_dropped:rate5m", labels, at, rate)
    text = (
        f"# TYPE {name} gauge\n"
        + "".join(f"{name}{labels} {point}\n" for labels, points in all_.items() for point in points)
        for name, all_ in series.items()
    )
    return f"{''.join(text)}# EOF\n"


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """One with these samples, that reads nothing."""
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "samples").write_text(samples())
    code, said = promtool(["tsdb", "create-blocks-from", "openmetrics", "-q", f"{folder}/samples", f"{folder}/data"])
    assert code == 0, said
    (folder / "settings.yml").touch()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    argv = [program("prometheus"), f"--config.file={folder}/settings.yml", f"--storage.tsdb.path={folder}/data"]
    argv += ["--storage.tsdb.retention.time=100y", f"--web.listen-address=127.0.0.1:{port}"]
    with (folder / "log").open("w") as log, subprocess.Popen(argv, stdout=log, stderr=log) as process:
        try:
            ready(f"http://127.0.0.1:{port}/-/ready", folder / "log")
            yield Prometheus(f"http://127.0.0.1:{port}", timeout_s=PATIENCE_S)
        finally:
            end(process.pid)


def ready(url: str, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_S):
                return
        except OSError:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)


def test_each_series_of_a_query_is_recorded() -> None:
    rules = yaml.safe_load(RECORDING.read_text())
    recorded = {rule["record"] for group in rules["groups"] for rule in group["rules"]}
    asked = " ".join(query.text for query in queries(job(ODD), START + RUN_S).values())
    assert set(re.findall(r"drawbridge:[a-z]\w*(?::\w+)?", asked)) <= recorded


def job(nodes: tuple[str, ...]) -> Job:
    times = (START - 900, START - 400, START, START + RUN_S, 86400)
    return Job("17", "17", "ann", "nlp", "p", "COMPLETED", "0:0", *times, ",".join(nodes), nodes, 4 * len(nodes))


def reported(prometheus: Prometheus, of: Job) -> Report:
    now = START + RUN_S + 900
    found = answers(prometheus.ask, queries(of, now))
    assert found.unknown == {}
    return Report(of, now, Numbers(found.values), found.unknown)


def test_each_planted_fault_of_a_job_is_a_hint_and_nothing_else_is(prometheus: Prometheus) -> None:
    found = reported(prometheus, job(ODD))
    assert found.whole, "it has all GPUs that Prometheus knows of its nodes"
    assert [hint.text for hint in found.hints] == [
        "rail 0 of gpu02 was down for 10 % of the time",
        "GPU 3 of gpu02 was idle for 80 % of the time",
        "GPU 2 of gpu01 reported Xid 79: the list of Xids by NVIDIA has its meaning",
        "rail 3 of gpu01 carried 33 % of the traffic of its siblings: drawbridge status gpu01",
        "its switch paused rail 1 of gpu02: congestion in the fabric, or a slow receiver (400/s)",
        "port swp3 of leaf1 drops packets for rail 3 of gpu01 (0.5/s)",
    ]
    assert {line.name: line.text for line in lines(found)}["gpu"] == (
        "busy for 86 % of the time, mean of 8 GPUs; least 19 %: GPU 3 of gpu02"
    )
    hints = "; rail 0 of gpu02 was down for 10 % of the time; GPU 3 of gpu02 was idle for 80 % of the time"
    assert report.one_line(found).endswith(hints)


def test_a_healthy_job_between_odd_ones_has_no_hint(prometheus: Prometheus) -> None:
    """Other jobs ran on its nodes before and after it, and on another node at the same time."""
    found = reported(prometheus, job(HEALTHY))
    assert found.hints == []
    assert report.one_line(found).startswith(
        "drawbridge job: GPU 95 % busy (least 95 %: GPU 0 of gpu03), memory 70 %, 600 W, 12 GB/s sent by a rail, "
        "read 600 MB/s, waited 00:06:40, ran 01:00:00"
    )
    congestion = {line.name: line.text for line in lines(found)}["congestion"]
    assert congestion == "highest rates: CNP handled 20/s (rail 0 of gpu03)"


def test_a_single_node_and_a_job_that_runs(prometheus: Prometheus) -> None:
    single = replace(job(HEALTHY[:1]), state="RUNNING", ended=0)
    now = START + 1800
    found = answers(prometheus.ask, queries(single, now))
    made = Report(single, now, Numbers(found.values), found.unknown)
    assert (found.unknown, made.hints, made.numbers.get("gpus")) == ({}, [], 4)


def test_nodes_or_times_without_samples_are_not_known(prometheus: Prometheus) -> None:
    earlier = replace(job(ODD), started=START - 90000, ended=START - 86400)
    for of in (job(("elsewhere",)), earlier):
        found = {line.name: line.text for line in lines(reported(prometheus, of))}
        assert {found[name] for name in GROUPS.values()} == {f"not known: {EMPTY}"}
