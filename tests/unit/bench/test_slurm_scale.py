# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from bench import slurm_scale

SMALL = {"seconds": 0.05, "peak_mib": 21.0, "kib": 4.0}
LARGE = {"seconds": 0.3, "peak_mib": 24.0, "kib": 15.0}
DAEMON = {"start_s": 6.0, "squeue_s": 0.004, "reconfigure_s": 9.0, "peak_mib": 204.0, "nodes": 10000}


def test_a_site_has_all_its_nodes_in_leaves() -> None:
    slurm, nodes = slurm_scale.site(100)
    assert [part["names"] for part in nodes["ranges"]] == [
        "gpu[00001-00032]",
        "gpu[00033-00064]",
        "gpu[00065-00096]",
        "gpu[00097-00100]",
    ]
    assert slurm["partitions"][0]["nodes"] == "gpu[00001-00100]"


def test_nodes_of_a_class_are_one_line_however_many_they_are() -> None:
    texts = slurm_scale.files(2000)
    assert sum(line.startswith("NodeName=") for line in texts["slurm.conf"].splitlines()) == 1
    assert len(texts["topology.conf"].splitlines()) == 1 + 63 + 1


def test_goals_that_are_met_are_not_mentioned() -> None:
    assert slurm_scale.over(SMALL, LARGE) == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"seconds": 0.6}, "12.0 times as long as 1000, the goal is 11"),
        ({"peak_mib": 600.0}, "600 MiB, the goal is 500"),
    ],
)
def test_a_goal_that_is_missed_is_a_sentence(change: dict[str, float], sentence: str) -> None:
    (found,) = slurm_scale.over(SMALL, {**LARGE, **change})
    assert sentence in found


def test_the_page_shows_ratio_and_goal() -> None:
    page = slurm_scale.page(SMALL, LARGE, DAEMON)
    assert "| ratio | 6.0, goal 11 | goal 500 | |\n" in page
    assert "| `squeue`, the middle of 20 | 4 ms |\n" in page
