# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from roles.slurm_gate.files.gate import tokens
from roles.slurm_gate.files.gate.api import Answer, Api, Unreachable
from roles.slurm_gate.files.gate.config import Config
from tests.unit.roles.slurm_gate.cluster import JOB
from tests.unit.roles.slurm_gate.test_config import CONFIG


class Mint(Api):
    """Gives tokens, and notes for whom."""

    def __init__(self, status: int = 201) -> None:
        self.status, self.asked = status, []

    def call(self, method: str, path: str, body: Any = None, kind: str = "") -> Answer:
        self.asked.append((path, body["spec"]["expirationSeconds"]))
        if self.status == 0:
            raise Unreachable("silent")
        return Answer(self.status, {"status": {"token": f"token-{len(self.asked)}"}, "message": "no"})


def bearer(account: str) -> str:
    payload = base64.urlsafe_b64encode(json.dumps({"sub": f"system:serviceaccount:{account}"}).encode()).decode()
    return f"x.{payload.rstrip('=')}.y"


@pytest.fixture(autouse=True)
def anybody(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(tokens.os, "fchown", lambda _, uid, gid: given.append((uid, gid)))
    return given


def test_the_jobs_user_alone_reads_the_token(tmp_path: Path, anybody: list[tuple[int, int]]) -> None:
    config = Config(**{**CONFIG, "pod_limits": {"gpus": "8"}})
    tokens.place(JOB, Mint(), config, tmp_path)
    file = tmp_path / "4711/token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o400
    assert anybody[-1] == (2001, 3001)
    assert "DRAWBRIDGE_POD_GPUS=8\n" in (tmp_path / "4711/env").read_text()
    tokens.remove(4711, tmp_path)
    assert not list(tmp_path.iterdir())


def test_young_tokens_stay(tmp_path: Path) -> None:
    own, api = tmp_path / "node.token", Mint()
    own.write_text(bearer("drawbridge-nodes:gpu01"))
    assert tokens.renew(api, own)
    assert api.asked == []


def test_a_host_renews_itself_and_the_jobs_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "RENEW_S", 0)
    own, api = tmp_path / "node.token", Mint()
    own.write_text(bearer("drawbridge-nodes:gpu01"))
    tokens.place(JOB, api, Config(**CONFIG), tmp_path / "jobs")
    assert tokens.renew(api, own)
    assert tokens.renew_jobs(api, tmp_path / "jobs")
    assert [path.split("/")[4:] for path, _ in api.asked[1:]] == [
        ["drawbridge-nodes", "serviceaccounts", "gpu01", "token"],
        ["vision", "serviceaccounts", JOB.account, "token"],
    ]
    assert own.read_text() == "token-2"
    assert (tmp_path / "jobs/4711/token").read_text() == "token-3"


@pytest.mark.parametrize("status", [403, 0])
def test_without_a_new_token_the_old_one_stays(tmp_path: Path, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "RENEW_S", 0)
    own = tmp_path / "node.token"
    own.write_text(bearer("drawbridge-nodes:gpu01"))
    assert not tokens.renew(Mint(status), own)
    assert own.read_text() == bearer("drawbridge-nodes:gpu01")
    assert list(tmp_path.iterdir()) == [own]
