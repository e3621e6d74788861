# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from roles.slurm_gate.files.gate import tokens
from roles.slurm_gate.files.gate.api import Answer, Api, Unreachable
from roles.slurm_gate.files.gate.proof import local_obstacle
from roles.slurm_gate.files.gate.slurm import NoAnswer
from tests.unit.roles.slurm_gate.cluster import JOB, RUNNING, Made, own_token, world


class Mint(Api):
    """Gives tokens, and notes for whom."""

    def __init__(self, status: int = 201) -> None:
        self.status, self.asked = status, []

    def call(self, method: str, path: str, body: Any = None, kind: str = "", accept: str = "") -> Answer:
        self.asked.append((path, body["spec"]["expirationSeconds"]))
        if self.status == 0:
            raise Unreachable("silent")
        return Answer(self.status, {"status": {"token": f"token-{len(self.asked)}"}, "message": "no"})


@pytest.fixture(autouse=True)
def anybody(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(tokens.os, "fchown", lambda _, uid, gid: given.append((uid, gid)))
    return given


def test_the_jobs_user_alone_reads_the_token(at: Made, anybody: list[tuple[int, int]]) -> None:
    tokens.deliver(JOB, at, Mint(), "3011.3012")
    file = at.jobs / "4711/token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o400
    assert anybody[-1] == (2001, 3001)
    assert {"DRAWBRIDGE_POD_GPUS=8", "DRAWBRIDGE_GROUPS=3011,3012"} < set((at.jobs / "4711/env").read_text().split())
    assert tokens.note(4711, at)["started"] == JOB.started
    assert tokens.leftover(at, but=4711) == ""
    tokens.remove(4711, at)
    assert [file.name for file in (at.jobs / "4711").iterdir()] == [tokens.OVER]
    assert tokens.note(4711, at)["started"] == JOB.started, "an epilog that runs again knows whose it was"
    assert tokens.leftover(at) == "job 4711 has not been closed here yet"
    assert tokens.renew_jobs(at, Mint())
    assert not (at.jobs / "4711/token").exists(), "the timer brings none to a run that is over"
    tokens.forget(4711, at)
    assert not list(at.jobs.iterdir())
    assert tokens.note(4711, at) == {}


def test_a_job_with_divided_gpus_has_the_names_of_its_instances(tmp_path: Path) -> None:
    """And the proof counts them: a node whose GPUs are all divided has processes on them, too."""
    resources = "nvidia.com/mig-3g.40gb=16"
    at = world(tmp_path, pod_limits={"cpus": "120", "gpus": "16", "resources": resources})
    tokens.deliver(JOB, at, Mint(), "")
    lines = (at.jobs / "4711/env").read_text().splitlines()
    assert {"DRAWBRIDGE_POD_GPUS=16", f"DRAWBRIDGE_POD_RESOURCES={resources}"} < set(lines)
    at.host.on_gpus = {7: "ghost"}
    assert local_obstacle(at) == "process 7 (ghost) uses a GPU: end it"


def own(at: Made) -> Path:
    at.token("node").write_text(own_token("drawbridge-nodes", "gpu01"))
    return at.token("node")


def later(at: Made, file: Path, seconds: float = tokens.RENEW_S + 1) -> None:
    at.clock.seconds = file.stat().st_mtime + seconds


def test_young_tokens_stay(at: Made) -> None:
    api, file = Mint(), own(at)
    later(at, file, 60)
    assert tokens.renew(file, at, api)
    assert api.asked == []


def test_a_host_renews_itself_and_the_jobs_it_has(at: Made, anybody: list[tuple[int, int]]) -> None:
    api, file = Mint(), own(at)
    tokens.deliver(JOB, at, api, "")
    later(at, at.jobs / "4711/token")
    assert tokens.renew(file, at, api)
    assert tokens.renew_jobs(at, api)
    assert [path.split("/")[4:] for path, _ in api.asked[1:]] == [
        ["drawbridge-nodes", "serviceaccounts", "gpu01", "token"],
        ["vision", "serviceaccounts", JOB.account, "token"],
    ]
    assert file.read_text() == "token-2"
    assert (at.jobs / "4711/token").read_text() == "token-3"
    assert anybody[-1] == (2001, 3001)


def test_a_token_that_could_not_be_placed_comes_later(at: Made, anybody: list[tuple[int, int]]) -> None:
    with pytest.raises(Unreachable):
        tokens.deliver(JOB, at, Mint(0), "")
    assert not (at.jobs / "4711/token").exists()
    assert tokens.renew_jobs(at, Mint())
    assert (at.jobs / "4711/token").read_text() == "token-1"
    assert anybody[-1] == (2001, 3001)


def test_a_prolog_and_the_timer_write_the_same_file_at_once(at: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one is between its two halves when the other begins and ends."""
    file, real = own(at), os.fsync
    pids = iter((os.getpid(), os.getppid()))
    monkeypatch.setattr(tokens.os, "getpid", lambda: next(pids))

    def other(descriptor: int) -> None:
        monkeypatch.setattr(tokens.os, "fsync", real)
        tokens.write(file, "the timer's", 0o400, 0, 0)
        assert file.read_text() == "the timer's"

    monkeypatch.setattr(tokens.os, "fsync", other)
    tokens.write(file, "the prolog's", 0o400, 0, 0)
    assert file.read_text() == "the prolog's"
    assert sorted(file.parent.glob(f"*{file.name}*")) == [file]


def test_what_a_killed_writer_left_goes(at: Made) -> None:
    file = own(at)
    for pid in ("999999999", str(os.getpid())):
        file.with_name(f".{file.name}.{pid}.partial").write_text("half")
    tokens.write(file, "whole", 0o400, 0, 0)
    assert sorted(file.parent.glob(f"*{file.name}*")) == [file]


def test_tokens_of_the_future_are_renewed(at: Made) -> None:
    """A host's clock that was wrong at boot was set back since: the API server's never was ahead."""
    file = own(at)
    later(at, file, -86400)
    assert tokens.renew(file, at, Mint())
    assert file.read_text() == "token-1"


@pytest.mark.parametrize("left", ["", "x", "x.y.z", "x.e30.z"])
def test_a_token_damaged_by_a_power_cut_is_logged(at: Made, left: str) -> None:
    file = own(at)
    file.write_text(left)
    assert not tokens.renew(file, at, Mint())
    assert "damaged" in at.log.lines[-1]


def test_an_epilog_may_take_a_token_away_while_it_is_renewed(at: Made) -> None:
    class Late(Mint):
        def call(self, *args: Any, **others: Any) -> Answer:
            tokens.remove(4711, at)
            return super().call(*args, **others)

    tokens.deliver(JOB, at, Mint(), "")
    later(at, at.jobs / "4711/token")
    assert tokens.renew_jobs(at, Late())
    assert [file.name for file in (at.jobs / "4711").iterdir()] == [tokens.OVER]
    tokens.forget(4711, at)
    (at.jobs / "4711").mkdir()
    (at.jobs / "4711/run").symlink_to("gone")  # seen by glob, and not there when it is read
    assert tokens.renew_jobs(at, Mint())


@pytest.mark.parametrize("status", [403, 0])
def test_without_a_new_token_the_old_one_stays(at: Made, status: int) -> None:
    file = own(at)
    later(at, file)
    assert not tokens.renew(file, at, Mint(status))
    assert file.read_text() == own_token("drawbridge-nodes", "gpu01")


def test_tokens_of_jobs_that_left_the_node_go(at: Made) -> None:
    tokens.deliver(JOB, at, Mint(), "")
    at.slurm.silent = True
    with pytest.raises(NoAnswer):
        tokens.tidy("gpu01", at)
    at.slurm.silent = False
    at.slurm.jobs[4711] = RUNNING
    tokens.tidy("gpu01", at)
    assert (at.jobs / "4711/token").exists()
    at.slurm.jobs[4711] = RUNNING._replace(nodes=("gpu02",))
    tokens.tidy("gpu01", at)
    assert not list(at.jobs.iterdir())
