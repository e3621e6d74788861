# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A server that answers with Prometheus' own texts, and one that does not answer."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job import prometheus_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.prometheus_io import (
    Found,
    Prometheus,
    Silent,
    Unknown,
    answers,
    vector,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.queries import Query

from lab.kubernetes.pki import Authority
from tests.unit.module_utils.telemetry.job.fake_prometheus import Server, said, serving

LONG_S = 60.0
"""No test waits for it; a slow machine must not come near."""


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as made:
        yield made


def of(server: Server, limit_s: float = LONG_S) -> Prometheus:
    return Prometheus(f"http://127.0.0.1:{server.port}/", timeout_s=limit_s)


def test_a_query_is_posted_with_its_time_and_a_limit(server: Server) -> None:
    server.answer(said("vector"))
    assert of(server).ask('up{node="gpu01"}', 1767232800.5) == [
        Found({"of": "busy"}, 0.9026991614255765),
        Found({"of": "least_busy", "gpu": "3", "node": "gpu02"}, 0.1931865828092243),
    ]
    assert server.paths == ["/api/v1/query"]
    assert server.forms == [{"query": 'up{node="gpu01"}', "time": "1767232800.500", "timeout": "60s"}]


@pytest.mark.parametrize("name", ["empty", "not_a_number"])
def test_a_text_that_is_no_number_is_no_value(server: Server, name: str) -> None:
    server.answer(said(name))
    assert of(server).ask("x", 0) == []


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("bad_data", 400, 'refused the query: invalid parameter "query": 1:5: parse error: unclosed left parenthesis'),
        ("too_many", 422, "refused the query: query processing would load too many samples"),
        ("timed_out", 503, "refused the query: query timed out in expression evaluation"),
        ("scalar", 200, "does not answer as Prometheus does: a scalar instead of a vector"),
        ("bad_data", 200, "does not answer as Prometheus does: invalid parameter"),
    ],
)
def test_a_refusal_has_prometheus_own_words(server: Server, name: str, status: int, reason: str) -> None:
    server.answer(said(name), status)
    with pytest.raises(Unknown, match="Prometheus") as caught:
        of(server).ask("x", 0)
    assert reason in str(caught.value) and not isinstance(caught.value, Silent)


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ("<html>login</html>", 401, "HTTP 401"),
        ("[]", 500, "HTTP 500"),
        ("<html>login</html>", 200, "does not answer as Prometheus does"),
        ("[]", 200, "does not answer as Prometheus does: TypeError"),
        ('{"status": "success", "data": {"resultType": "vector", "result": [{"value": []}]}}', 200, "KeyError"),
    ],
)
def test_another_program_is_not_prometheus(server: Server, body: str, status: int, reason: str) -> None:
    server.answer(body, status)
    with pytest.raises(Unknown) as caught:
        of(server).ask("x", 0)
    assert reason in str(caught.value)


def test_an_answer_that_leads_elsewhere_is_not_followed(server: Server) -> None:
    server.answer("", 302, Location=f"http://127.0.0.1:{server.port}/elsewhere")
    with pytest.raises(Unknown, match="HTTP 302"):
        of(server).ask("x", 0)
    assert server.paths == ["/api/v1/query"]


def test_a_proxy_of_the_environment_is_not_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    server.answer(said("empty"))
    assert of(server).ask("x", 0) == []


def test_an_answer_without_end_is_cut(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus_io, "MOST_BYTES", 1 << 20)
    server.answer(" " * ((1 << 20) + 1))
    with pytest.raises(Unknown, match="more than 1 MiB"):
        of(server).ask("x", 0)


def test_an_answer_that_drips_ends_at_the_limit(server: Server) -> None:
    server.answer("{")
    server.drips = True
    with pytest.raises(Silent, match="the time limit ended"):
        of(server, 0.2).ask("x", 0)


def test_a_server_that_hangs_and_one_that_is_not_there_are_silent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(Silent, match=f"does not answer at http://127.0.0.1:{port}/api/v1/query: .*timed out"):
            Prometheus(f"http://127.0.0.1:{port}", timeout_s=0.2).ask("x", 0)
    with pytest.raises(Silent, match="Connection refused"):
        Prometheus(f"http://127.0.0.1:{port}", timeout_s=LONG_S).ask("x", 0)


@pytest.fixture
def https(server: Server, tmp_path: Path) -> Path:
    """The server has a certificate for 127.0.0.1; the file of its CA."""
    authority = Authority.ensure(tmp_path / "pki")
    pair = authority.server("prometheus", ("127.0.0.1",))
    (tmp_path / "server.pem").write_bytes(pair.certificate + pair.key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "server.pem")
    server.http.socket = context.wrap_socket(server.http.socket, server_side=True)
    server.answer(said("empty"))
    (tmp_path / "ca.crt").write_bytes(authority.ca.certificate)
    return tmp_path / "ca.crt"


def test_https_needs_a_certificate_of_the_ca(server: Server, https: Path) -> None:
    url = f"https://127.0.0.1:{server.port}"
    assert Prometheus(url, str(https), LONG_S).ask("x", 0) == []
    with pytest.raises(Silent, match="CERTIFICATE_VERIFY_FAILED"):
        Prometheus(url, timeout_s=LONG_S).ask("x", 0)
    with pytest.raises(Unknown, match="certificates of CAs in /nowhere can't be read"):
        Prometheus(url, "/nowhere", LONG_S).ask("x", 0)


QUERIES = {name: Query(name, 1.0) for name in ("gpus", "network", "storage")}


def test_a_refused_query_leaves_the_others() -> None:
    def ask(query: str, at: float) -> list[Found]:
        if query == "network":
            raise Unknown("too heavy")
        return [Found({"of": query}, at)]

    found = answers(ask, QUERIES)
    assert [value.labels["of"] for value in found.values] == ["gpus", "storage"]
    assert (found.unknown, found.silent) == ({"network": "too heavy"}, False)


def test_a_silent_server_is_not_asked_again() -> None:
    calls = []

    def ask(query: str, at: float) -> list[Found]:
        calls.append(query)
        if query == "network":
            raise Silent("no route")
        return [Found({"of": query}, at)]

    found = answers(ask, QUERIES)
    assert calls == ["gpus", "network"]
    assert (found.unknown, found.silent) == ({"network": "no route", "storage": "no route"}, True)


def test_infinite_values_are_dropped() -> None:
    row = '{"metric": {"of": "x"}, "value": [1, "%s"]}'
    rows = ", ".join(row % value for value in ("+Inf", "-Inf", "2.5e3"))
    text = f'{{"status": "success", "data": {{"resultType": "vector", "result": [{rows}]}}}}'
    assert vector(text) == [Found({"of": "x"}, 2500)]
