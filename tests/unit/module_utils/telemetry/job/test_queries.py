# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Queries of a job. tests/alerts/test_job_report.py gives them to a real Prometheus."""

from __future__ import annotations

import re

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job import queries
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.text import Job

START = 1767225600.0
HOUR = 3600.0


def job(ran: float, count: int = 2, ended: bool = True) -> Job:
    names = tuple(f"gpu{at:05d}" for at in range(1, count + 1))
    return Job("4711", "4711", started=START, ended=START + ran if ended else 0, nodes=names)


def made(of: Job, now: float = START + 1e7) -> dict[str, queries.Query]:
    return queries.queries(of, now)


def test_their_number_does_not_grow_with_the_job() -> None:
    assert set(made(job(HOUR))) == {queries.GPUS, queries.NETWORK, queries.CONGESTION, queries.STORAGE}
    assert len(made(job(100 * HOUR, 2000))) == 4


def test_each_selector_names_the_jobs_nodes() -> None:
    for query in made(job(HOUR)).values():
        selectors = re.findall(r"drawbridge:[\w:]+({[^}]*})?", query.text)
        assert set(selectors) == {'{node=~"gpu00001|gpu00002"}'}


def test_a_dot_of_a_name_is_a_dot_and_a_single_node_needs_no_pattern() -> None:
    dotted = Job("1", "1", started=START, ended=START + HOUR, nodes=("a.b", "c"))
    assert '{node=~"a[.]b|c"}' in made(dotted)[queries.STORAGE].text
    single = Job("1", "1", started=START, ended=START + HOUR, nodes=("a.b",))
    assert '{node="a.b"}' in made(single)[queries.STORAGE].text


@pytest.mark.parametrize(
    ("ran", "count", "seconds", "rates", "cut"),
    [
        (0.2, 2, 1, 1, False),
        (300, 2, 300, 300, False),
        (600, 2, 540, 600, False),
        (900, 2, 840, 600, False),
        (24 * HOUR, 1000, 86340, 86100, False),
        (24 * HOUR, 4000, 21600, 21600, True),
        (100 * HOUR, 1_000_000, 3600, 3600, True),
    ],
)
def test_the_window_shows_the_job_alone(ran: float, count: int, seconds: float, rates: float, cut: bool) -> None:
    of = Job("1", "1", started=START, ended=START + ran, nodes=("n",) * count)
    assert queries.window(of, START + 1e7) == queries.Window(START + ran, seconds, rates, cut)


def test_queries_end_with_the_job_or_now() -> None:
    assert {query.at for query in made(job(HOUR)).values()} == {START + HOUR}
    running = made(job(0, ended=False), START + 2 * HOUR)
    assert {query.at for query in running.values()} == {START + 2 * HOUR}
    assert "[7140s]" in running[queries.GPUS].text and "[6900s]" in running[queries.STORAGE].text


def test_a_job_that_has_not_run_has_none() -> None:
    assert made(Job("1", "1")) == {}
    assert made(Job("1", "1", nodes=("n",), started=START), START) == {}


@pytest.mark.parametrize(("ran", "step"), [(300, 15), (HOUR, 30), (30 * 24 * HOUR, 21600)])
def test_idle_moments_are_few(ran: float, step: int) -> None:
    assert f"s:{step}s]" in made(job(ran))[queries.GPUS].text
