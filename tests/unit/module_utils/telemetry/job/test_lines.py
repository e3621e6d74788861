# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of a job as lines, and hints where something is odd."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job import lines as subject
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.lines import Report
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.numbers import Numbers
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.prometheus_io import Found
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.report import plain
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.text import Job

NOW = 1767240000.0
JOB = Job(
    *("4711", "4711", "ann", "nlp", "ai-train", "COMPLETED", "0:0", 1767225000, 1767225200, 1767225600, 1767232800),
    *(86400, "gpu[01-02]", ("gpu01", "gpu02"), 16),
)
GPU = {"node": "gpu02", "gpu": "3"}
RAIL = {"node": "gpu01", "rail": "5"}
PORT = {**RAIL, "switch": "leaf1", "port": "swp5"}
HEALTHY: dict[str, tuple[float, dict[str, str]]] = {
    "gpus": (16, {}),
    "busy": (0.95, {}),
    "least_busy": (0.91, GPU),
    "idle": (0.02, GPU),
    "sm_active": (0.6, {}),
    "memory": (0.71, GPU),
    "memory_bytes": (71 * 2**30, {}),
    "power": (600, {}),
    "least_power": (0.97, GPU),
    "sent": (12e9, {}),
    "received": (11e9, {}),
    "slowest_sent": (0.98, RAIL),
    "slowest_received": (0.99, RAIL),
    "rail_down": (0, RAIL),
    **{name: (0, RAIL) for name in ("pause_received", "pause_sent", "cnp_sent", "cnp_ignored", "retransmits")},
    **{name: (0, RAIL) for name in ("discards", "ecn_marked")},
    "cnp_handled": (200, RAIL),
    "port_dropped": (0, PORT),
    "read": (6e8, {"fs": "scratch"}),
    "write": (1e8, {"fs": "scratch"}),
}


def numbers(**changes: Any) -> Numbers:
    """Those of a healthy job, with changes; None takes one away."""
    values = {**HEALTHY, **{name: change if isinstance(change, tuple) else None for name, change in changes.items()}}
    return Numbers([Found({"of": name, **it[1]}, it[0]) for name, it in values.items() if it])


def report(job: Job = JOB, unknown: dict[str, str] | None = None, **changes: Any) -> Report:
    return Report(job, NOW, numbers(**changes), unknown or {}, True)


def said(of: Report) -> dict[str, str]:
    return {line.name: line.text for line in subject.lines(of)}


def hints(of: Report) -> list[str]:
    return [hint.text for hint in of.hints]


def test_a_healthy_job_has_no_hints() -> None:
    assert said(report()) == {
        "state": "COMPLETED, exit code 0:0",
        "nodes": "gpu[01-02] (2), 16 GPUs",
        "time": "waited 00:06:40, ran 02:00:00 of 1-00:00:00 from 2026-01-01T00:00:00Z to 2026-01-01T02:00:00Z",
        "gpu": "busy for 95 % of the time, mean of 16 GPUs; least 91 %: GPU 3 of gpu02",
        "gpu memory": "peak 71 %, 71 GiB: GPU 3 of gpu02",
        "gpu power": "600 W, mean of 16 GPUs; 19.2 kWh in all",
        "network": "12 GB/s sent and 11 GB/s received by a rail, mean of all; slowest rail 5 of gpu01: 98 % of its "
        "node's median",
        "congestion": "highest rates: CNP handled 200/s (rail 5 of gpu01)",
        "storage": "read 600 MB/s of scratch (4.32 TB), wrote 100 MB/s of scratch (720 GB)",
    }
    assert hints(report()) == []


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({"idle": (0.8, GPU), "idle_gpus": (1, {})}, "GPU 3 of gpu02 was idle for 80 % of the time"),
        (
            {"idle": (0.8, GPU), "idle_gpus": (5, {})},
            "5 of 16 GPUs were idle for more than half of the time, such as GPU 3 of gpu02 (80 %)",
        ),
        ({"idle": (1, GPU), "idle_gpus": (16, {})}, "all 16 GPUs were idle for more than half of the time"),
        ({"sm_active": (0.12, {})}, "GPUs were busy, but used 12 % of their multiprocessors: kernels are small"),
        ({"xid": (79, GPU)}, "GPU 3 of gpu02 reported Xid 79: the list of Xids by NVIDIA has its meaning"),
        ({"least_power": (0.45, GPU)}, "GPU 3 of gpu02 drew 45 % of the power of the others: it may be throttled"),
        (
            {"slowest_received": (1 / 3, RAIL)},
            "rail 5 of gpu01 carried 33 % of the traffic of its siblings: drawbridge status gpu01",
        ),
        ({"rail_down": (0.2, RAIL)}, "rail 5 of gpu01 was down for 20 % of the time"),
        (
            {"pause_received": (400, RAIL)},
            "its switch paused rail 5 of gpu01: congestion in the fabric, or a slow receiver (400/s)",
        ),
        (
            {"pause_sent": (101, RAIL)},
            "rail 5 of gpu01 paused its switch: the node received faster than it could take (101/s)",
        ),
        (
            {"cnp_ignored": (0.5, RAIL)},
            "rail 5 of gpu01 ignores congestion notifications (CNP): its adapter has ECN switched off (0.5/s)",
        ),
        ({"retransmits": (2, RAIL)}, "rail 5 of gpu01 sends packets again: the fabric loses packets (2/s)"),
        ({"discards": (2, RAIL)}, "rail 5 of gpu01 discards packets (2/s)"),
        ({"port_dropped": (3, PORT)}, "port swp5 of leaf1 drops packets for rail 5 of gpu01 (3/s)"),
        (
            {"busy": (0.3, {}), "read": (6e9, {"fs": "scratch"})},
            "GPUs were mostly not busy while it read much: they may wait for their input",
        ),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
def test_an_odd_number_has_its_hint_and_no_other(changes: dict[str, Any], hint: str) -> None:
    assert hints(report(**changes)) == [hint]
    assert plain(hint) == hint, "AdminComment has it as it is"


@pytest.mark.parametrize(
    "changes",
    [
        {"idle": (0.49, GPU)},
        {"sm_active": (0.12, {}), "busy": (0.6, {})},
        {"sm_active": None},
        {"least_power": (0.61, GPU)},
        {"slowest_sent": (0.5, RAIL)},
        {"slowest_sent": None, "slowest_received": None},
        {"rail_down": (1e-9, RAIL)},
        {"pause_received": (100, RAIL), "pause_sent": (100, RAIL), "retransmits": (1, RAIL), "discards": (0.1, RAIL)},
        {"busy": (0.3, {}), "read": (1e9, {"fs": "scratch"})},
        {"memory": (0.99, GPU)},
    ],
    ids=str,
)
def test_a_number_that_is_not_odd_has_none(changes: dict[str, Any]) -> None:
    assert hints(report(**changes)) == []


def test_instances_are_named_and_power_is_of_whole_gpus() -> None:
    """Slurm counts instances as GPUs; the exporter knows the power of a GPU alone."""
    instance = {**GPU, "GPU_I_ID": "7"}
    found = report(least_busy=(0.2, instance), powered=(4, {}), memory=(0.5, {**GPU, "GPU_I_ID": ""}))
    assert said(found)["gpu"].endswith("mean of 16 GPUs; least 20 %: instance 7 of GPU 3 of gpu02")
    assert said(found)["gpu memory"].endswith("GiB: GPU 3 of gpu02")
    assert said(found)["gpu power"] == "600 W, mean of 4 GPUs; 4.8 kWh in all"


def test_an_idle_gpu_draws_less_power_which_is_said_once() -> None:
    found = hints(report(idle=(0.8, GPU), idle_gpus=(1, {}), least_power=(0.2, GPU)))
    assert found == ["GPU 3 of gpu02 was idle for 80 % of the time"]


@pytest.mark.parametrize(
    ("state", "level", "hint"),
    [
        ("NODE_FAIL", 2, "Slurm lost a node while it ran: drawbridge status gpu[01-02]"),
        ("BOOT_FAIL", 2, "a node did not boot: drawbridge status gpu[01-02]"),
        ("OUT_OF_MEMORY", 1, "a process needed more memory of the host than the job had: raise --mem"),
        ("TIMEOUT", 1, "its time limit ended it: raise --time, or continue from a checkpoint"),
    ],
)
def test_a_state_has_its_hint(state: str, level: int, hint: str) -> None:
    assert report(replace(JOB, state=state)).hints == [subject.Hint(level, hint)]


def test_full_memory_of_gpus_counts_if_the_job_failed() -> None:
    failed = replace(JOB, state="FAILED", exit_code="1:0")
    assert hints(report(failed)) == []
    assert hints(report(failed, memory=(0.99, GPU))) == [
        "memory of GPU 3 of gpu02 was full: look for an error of its allocation"
    ]


def test_a_long_wait_of_a_short_job_with_a_long_limit() -> None:
    late = replace(JOB, submitted=JOB.started - 9000, eligible=JOB.started - 8000)
    hint = "it used 02:00:00 of 1-00:00:00: with a lower --time it may start sooner"
    assert hints(report(late)) == [hint]
    assert hints(report(replace(late, limit_s=4 * 7200))) == []
    assert hints(report(replace(late, state="FAILED"))) == []


def test_the_worst_hint_is_first() -> None:
    found = report(idle=(0.8, GPU), idle_gpus=(1, {}), rail_down=(0.2, RAIL)).hints
    assert [hint.level for hint in found] == [2, 1]


def test_shared_nodes_are_said_and_gpus_blame_nothing() -> None:
    odd = {"idle": (0.8, GPU), "idle_gpus": (1, {}), "least_power": (0.2, GPU), "busy": (0.3, {}), "xid": (79, GPU)}
    shared = replace(report(replace(JOB, gpus=4), **odd), partition_is_whole=False)
    assert said(shared)["nodes"] == "gpu[01-02] (2), 4 GPUs; numbers are of whole nodes, also of other jobs"
    assert hints(shared) == []
    assert hints(replace(shared, job=JOB)) != [], "it has all GPUs of its nodes"


@pytest.mark.parametrize("group", subject.GROUPS)
def test_a_query_without_an_answer_is_said(group: str) -> None:
    name = subject.GROUPS[group]
    assert said(report(unknown={group: "too heavy"}))[name] == "not known: too heavy"


def test_without_samples_nothing_is_claimed() -> None:
    empty = replace(report(), numbers=Numbers([]))
    found = said(empty)
    assert {found[name] for name in subject.GROUPS.values()} == {f"not known: {subject.EMPTY}"}


def test_a_counter_that_nothing_exports_is_not_zero() -> None:
    """A node_exporter before 1.11 has no CNP."""
    found = said(report(cnp_handled=None, ecn_marked=None))["congestion"]
    assert found == "none; not known: CNP handled, ECN marks received"


def test_a_job_that_waits_has_no_numbers() -> None:
    waits = Job(
        "17", "17", "ann", "nlp", "ai-train", "PENDING", submitted=NOW - 60, eligible=NOW - 60, reason="Resources"
    )
    assert said(report(waits)) == {
        "state": "PENDING: Resources",
        "nodes": "none yet",
        "time": "waits for 00:01:00",
    }


def test_a_job_that_runs() -> None:
    runs = replace(JOB, state="RUNNING", ended=0)
    assert said(report(runs))["time"].endswith("ran 04:00:00 of 1-00:00:00 from 2026-01-01T00:00:00Z to now")


def test_how_exact_the_numbers_are_is_said() -> None:
    short = replace(JOB, ended=JOB.started + 60)
    assert said(report(short))["time"].endswith("; that is too short for exact numbers")
    long = replace(JOB, started=JOB.ended - 10 * 86400, nodes=("n",) * 1000)
    assert said(report(long))["time"].endswith("; numbers are of its last 1-00:00:00")
    silent = report(short, unknown=dict.fromkeys(subject.GROUPS, "silent"))
    assert "exact" not in said(silent)["time"]


def test_missing_gpus_are_said() -> None:
    assert "mean of 12 GPUs (of 16)" in said(report(gpus=(12, {})))["gpu"]
