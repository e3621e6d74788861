# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import http.client
import io
import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from email.message import Message
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api import host

URL = "https://api:6443"
NODE = {"kind": "Node"}


def refusal(code: int) -> urllib.error.HTTPError:
    return urllib.error.HTTPError(URL, code, "no", Message(), None)


class Network:
    """Gives answers in their order, and repeats the last one. Time passes only in pauses."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: Sequence[Any]) -> None:
        self.answers, self.asked, self.now = list(answers), 0, 0.0
        monkeypatch.setattr(ssl, "create_default_context", lambda cafile: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        monkeypatch.setattr(urllib.request, "build_opener", lambda *_: self)
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self.pause)

    def pause(self, seconds: float) -> None:
        self.now += seconds

    def open(self, request: urllib.request.Request, timeout: float) -> io.BytesIO:
        assert timeout == host.REQUEST_S
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        if isinstance(answer, Exception):
            raise answer
        return io.BytesIO(json.dumps(answer).encode())


def ask() -> dict[str, Any]:
    return host.Server(URL, "ca").ask(urllib.request.Request(URL))


@pytest.mark.parametrize(
    "trouble",
    [
        TimeoutError("timed out"),
        urllib.error.URLError(ConnectionRefusedError()),
        http.client.IncompleteRead(b"{"),
        *map(refusal, (401, 403, 429, 500, 503)),
    ],
    ids=repr,
)
def test_a_request_is_sent_again_after_a_passing_error(monkeypatch: pytest.MonkeyPatch, trouble: Exception) -> None:
    network = Network(monkeypatch, [trouble, NODE])
    assert (ask(), network.asked, network.now) == (NODE, 2, host.PAUSE_S)


@pytest.mark.parametrize("code", [400, 404, 422])
def test_an_answer_is_an_answer(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    network = Network(monkeypatch, [refusal(code)])
    with pytest.raises(urllib.error.HTTPError):
        ask()
    assert network.asked == 1


def test_a_foreign_certificate_is_permanent(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(monkeypatch, [urllib.error.URLError(ssl.SSLCertVerificationError("unknown CA"))])
    with pytest.raises(urllib.error.URLError, match="unknown CA"):
        ask()
    assert network.asked == 1


@pytest.mark.parametrize("code", [401, 403])
def test_who_is_refused_again_and_again_is_refused(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    network = Network(monkeypatch, [refusal(code)])
    with pytest.raises(urllib.error.HTTPError):
        ask()
    assert network.asked == host.MOST_REFUSALS


def test_a_server_that_starts_is_given_time_to_know_us(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = urllib.error.URLError(ConnectionRefusedError())
    network = Network(monkeypatch, [*[silent] * host.MOST_REFUSALS, refusal(401), NODE])
    assert (ask(), network.asked) == (NODE, host.MOST_REFUSALS + 2)


@pytest.mark.parametrize("trouble", [TimeoutError("timed out"), refusal(500)], ids=repr)
def test_patience_ends(monkeypatch: pytest.MonkeyPatch, trouble: OSError) -> None:
    network = Network(monkeypatch, [trouble])
    with pytest.raises(OSError, match=r"timed out|500"):
        ask()
    assert host.PATIENCE_S - 2 * host.PAUSE_S <= network.now < host.PATIENCE_S


def test_a_missing_local_file_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        host.Server(URL, "/nonexistent").ask(urllib.request.Request(URL))
