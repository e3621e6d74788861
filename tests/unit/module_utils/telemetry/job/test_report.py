# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The report for a person, for AdminComment, and as plain data."""

from __future__ import annotations

import json
from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job import report as subject
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.numbers import Numbers

from tests.unit.module_utils.telemetry.job.test_lines import GPU, JOB, RAIL, report

HEALTHY = (
    "drawbridge job: GPU 95 % busy (least 91 %: GPU 3 of gpu02), memory 71 %, 600 W, 12 GB/s sent by a rail, "
    "read 600 MB/s, write 100 MB/s, waited 00:06:40, ran 02:00:00"
)


def test_one_line() -> None:
    assert subject.one_line(report()) == HEALTHY
    assert (
        subject.one_line(replace(report(replace(JOB, gpus=1)), partition_is_whole=False)) == f"{HEALTHY} (shared nodes)"
    )


def test_a_hint_joins_the_line_if_it_fits_the_worst_first() -> None:
    found = subject.one_line(report(idle=(0.8, GPU), idle_gpus=(1, {}), rail_down=(0.2, RAIL), xid=(79, GPU)))
    assert found == f"{HEALTHY}; rail 5 of gpu01 was down for 20 % of the time"
    assert len(found) <= subject.MOST


def test_without_numbers_there_is_no_line() -> None:
    assert subject.one_line(replace(report(), numbers=Numbers([]))) == ""


def test_a_cpu_job_has_a_line_of_its_storage() -> None:
    gpus = ("gpus", "busy", "least_busy", "idle", "sm_active", "memory", "memory_bytes", "power", "least_power", "sent")
    found = subject.one_line(report(**dict.fromkeys(gpus)))
    assert found == "drawbridge job: read 600 MB/s, write 100 MB/s, waited 00:06:40, ran 02:00:00"


def test_no_name_breaks_the_command_or_the_limit() -> None:
    """An inventory or a file system could have any name."""
    odd = {"node": "n'\"`\\=\n\u00e9", "gpu": "x" * 300}
    found = subject.one_line(report(least_busy=(0.5, odd)))
    assert len(found) == subject.MOST and found.isascii() and found.isprintable()
    assert "GPU 95 % busy (least 50 %: GPU xxx" in found
    assert subject.plain("a'b\"c`d\\e=f\ng\u00e9") == "a?b?c?d?e?f?g?"


def test_text_for_a_person() -> None:
    found = subject.text(report(idle=(0.8, GPU), idle_gpus=(1, {})), "drawbridge job: x")
    assert found[:6] == [
        "job 4711 of ann, partition ai-train, account nlp",
        "drawbridge job: x",
        "",
        "state       COMPLETED, exit code 0:0",
        "nodes       gpu[01-02] (2), 16 GPUs",
        "time        waited 00:06:40, ran 02:00:00 of 1-00:00:00 from 2026-01-01T00:00:00Z to 2026-01-01T02:00:00Z",
    ]
    assert found[7] == "            hint: GPU 3 of gpu02 was idle for 80 % of the time"
    assert subject.text(report(replace(JOB, account="")), "")[:2] == ["job 4711 of ann, partition ai-train", ""]


def test_plain_data() -> None:
    found = json.loads(json.dumps(subject.document(report(idle=(0.8, GPU), idle_gpus=(1, {})), "x")))
    assert (found["version"], found["level"], found["line"], found["whole_nodes"]) == (1, 1, "x", True)
    assert found["job"]["name"] == "4711" and found["nodes"] == ["gpu01", "gpu02"]
    assert found["seconds"] == {"waited": 400, "ran": 7200, "limit": 86400}
    assert found["numbers"]["idle"] == [{"value": 0.8, "node": "gpu02", "gpu": "3"}]
    [gpu] = [line for line in found["lines"] if line["name"] == "gpu"]
    assert gpu["hints"] == [{"level": 1, "text": "GPU 3 of gpu02 was idle for 80 % of the time"}]


def test_the_level_is_the_worst_hints() -> None:
    assert subject.level(report()) == 0
    assert subject.level(report(idle=(0.8, GPU))) == 1
    assert subject.level(report(idle=(0.8, GPU), rail_down=(0.2, RAIL))) == 2
