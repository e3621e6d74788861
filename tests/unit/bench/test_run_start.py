# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from bench.run_start import PARTS, page, parts, summary

TEXT = """batch 100.0
srun 100.5
srun 100.75
called 101.0
prepared 101.25
drawbridge-run: all pods run, 2.5 s after slurm-1-r0-run was made
[rank 1] begun 103.5
[rank 0] begun 103.25
over 105.0
"""


def test_parts_are_told_by_what_a_job_wrote() -> None:
    assert parts(TEXT) == {"srun": 0.75, "prepare": 0.25, "pods": 2.5, "pod": 2.25, "after": 1.5}


def test_pods_that_ended_before_they_were_seen_running_count_too() -> None:
    assert parts(TEXT.replace("all pods run", "x"))["pods"] == 2.25


def test_the_median_is_of_all_runs() -> None:
    runs = [dict.fromkeys(PARTS, value) for value in (1.0, 5.0, 2.0)]
    rows = summary(runs)
    assert [(row["median_s"], row["best_s"], row["worst_s"]) for row in rows] == [(2.0, 1.0, 5.0)] * len(PARTS)
    text = page(rows, [0.5, 2.25, 1.0])
    assert text.count("| 2.0 | 1.0 | 5.0 |") == len(PARTS)
    assert "3 jobs" in text
    assert "a load average of 0.5 to 2.2" in text
    with pytest.raises(IndexError):
        parts("nothing")
