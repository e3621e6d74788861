# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from roles.slurm_gate.files.gate import __main__ as gate
from roles.slurm_gate.files.gate import config, slurm
from roles.slurm_gate.files.gate.api import Unreachable
from roles.slurm_gate.files.gate.config import Refused
from tests.unit.roles.slurm_gate.test_config import CONFIG, ENVIRONMENT


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """What Slurm was told; the environment is a job's."""
    file = tmp_path / "config.json"
    file.write_text(json.dumps(CONFIG))
    monkeypatch.setattr(config.Config.read.__func__, "__defaults__", (file,))
    for key, value in {**ENVIRONMENT, "SLURMD_NODENAME": "gpu01"}.items():
        monkeypatch.setenv(key, value)
    words: list[tuple[str, ...]] = []
    monkeypatch.setattr(slurm, "_ask", lambda tool, *said: words.append(said) if tool == "scontrol" else "none\n")
    monkeypatch.setattr(gate, "LOCK", tmp_path / "gate.lock")
    return words


def stop(error: Exception) -> object:
    def verb(*args: object) -> None:
        raise error

    return verb


def test_a_refusal_names_its_cause_and_drains_what_caused_it(told: list, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "open_job", stop(Refused("gpu02 is dirty", {"gpu02": "end its pods"})))
    assert gate.main(["open"]) == 1
    assert told == [
        ("update", "jobid=4711", "admincomment=drawbridge gate: gpu02 is dirty"),
        ("update", "nodename=gpu02", "state=drain", "reason=drawbridge gate: end its pods"),
    ]


def test_a_silent_api_server_drains_nothing_when_a_job_starts(told: list, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "open_job", stop(Unreachable("no answer")))
    assert gate.main(["open"]) == 1
    assert [words[1] for words in told] == ["jobid=4711"]


def test_but_drains_the_node_that_can_not_be_proven_empty(told: list, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "close_node", stop(Unreachable("no answer")))
    assert gate.main(["close"]) == 1
    assert told[-1] == (
        "update",
        "nodename=gpu01",
        "state=drain",
        "reason=drawbridge gate: not proven empty, no answer",
    )


def test_a_nodes_prolog_never_fails_for_the_servers_sake(told: list, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate.tokens, "place", stop(Unreachable("no answer")))
    assert gate.main(["place"]) == 0
    assert told == []


@pytest.mark.parametrize("verb", ["open", "end", "place", "close"])
def test_jobs_of_other_partitions_pass(verb: str, told: list, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_PARTITION", "hpc")
    assert gate.main([verb]) == 0


def test_a_job_that_can_not_be_served_has_nothing_to_close(told: list, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ACCOUNT", "rich")
    assert [gate.main([verb]) for verb in ("open", "end", "place", "close")] == [1, 0, 0, 0]
