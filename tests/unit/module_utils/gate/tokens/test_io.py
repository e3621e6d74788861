# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import getpass
import json
import stat
import time
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api.host import Server
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.tokens.io import TokenFile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.tokens.plan import TokenState, plan

SUBJECT = "system:serviceaccount:drawbridge-nodes:gpu01"
WANT = TokenState(SUBJECT, True, getpass.getuser(), "0400")


def bearer(seconds_left: float, subject: str = SUBJECT) -> str:
    claims = {"sub": subject, "exp": time.time() + seconds_left}
    return f"x.{base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip('=')}.y"


def claimed(token: str) -> str:
    """What an API server would say that accepts whatever is shown to it."""
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["sub"]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TokenFile:
    monkeypatch.setattr(TokenFile, "_bearer", lambda self, token: claimed(token))
    server = Server("https://127.0.0.1:1", "/nonexistent")
    return TokenFile(tmp_path / "etc/node.token", server, WANT, min_left_s=3600, token=bearer(86400))


def test_a_token_is_placed_once_and_never_shows(file: TokenFile) -> None:
    outcome = converge(file, plan, WANT)
    assert outcome.changed and bearer(86400).split(".")[1] not in str(outcome.result())
    assert stat.S_IMODE(Path(file.name).stat().st_mode) == 0o400
    assert not converge(file, plan, WANT).changed


def test_one_that_ends_soon_or_that_the_server_refuses_is_replaced(
    file: TokenFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    converge(file, plan, WANT)
    Path(file.name).chmod(0o600)
    Path(file.name).write_text(bearer(60))
    Path(file.name).chmod(0o400)
    assert converge(file, plan, WANT).steps[0].endswith("the present token ends soon")
    monkeypatch.setattr(TokenFile, "_bearer", lambda self, token: "")
    outcome = converge(file, plan, WANT)
    assert "does not accept the present token" in outcome.steps[0]
    assert outcome.error, "a new token that is refused too is no success"


def test_only_a_refusal_is_no_bearer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "node.token"
    there.write_text(bearer(86400))
    file = TokenFile(there, Server("https://127.0.0.1:1", "/nonexistent"), WANT, 3600, "")
    with pytest.raises(DeviceError, match="does not answer whose"):
        file.read()
    said = [500, 401]

    def refused(self: Server, request: urllib.request.Request) -> Any:
        raise urllib.error.HTTPError(request.full_url, said.pop(), "no", Message(), None)

    monkeypatch.setattr(Server, "ask", refused)
    assert "does not accept the present token" in file.read().why
    with pytest.raises(DeviceError, match="does not report whose"):
        file.read()
