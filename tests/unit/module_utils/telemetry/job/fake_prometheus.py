# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A server that speaks Prometheus' JSON: recorded answers, or values of its own."""

from __future__ import annotations

import json
import re
import threading
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.conformance.tree import ROOT

TEXTS = ROOT / "tests/transcripts/telemetry/prometheus"
Values = Mapping[str, tuple[float, Mapping[str, str]]]
"""A value and its labels by question."""


def said(name: str) -> str:
    """A recorded answer, without the line of its origin."""
    return (TEXTS / f"{name}.txt").read_text().partition("\n")[2]


def vector(query: str, values: Values) -> str:
    """The answer to the questions of a query, in the form of the recorded one."""
    names = [name for name in re.findall(r'"of", "(\w+)"', query) if name in values]
    rows = [{"metric": {"of": name, **values[name][1]}, "value": [1767232800, str(values[name][0])]} for name in names]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": rows}})


class Server:
    """One that answers each POST alike, or by its values, and keeps the forms."""

    def __init__(self) -> None:
        self.status, self.body, self.headers = 200, b"", {}
        self.values: Values | None = None
        self.forms: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.go_on = threading.Event()
        self.drips = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                outer.forms.append(dict(urllib.parse.parse_qsl(self.rfile.read(length).decode())))
                outer.paths.append(self.path)
                self.send_response(outer.status)
                for name, value in outer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                values = outer.values
                self.wfile.write(outer.body if values is None else vector(outer.forms[-1]["query"], values).encode())
                while outer.drips and not outer.go_on.wait(0.01):
                    self.wfile.write(b" ")

            def log_message(self, format: str, *args: Any) -> None:
                """Tests have what there is to know."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        self._thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self._thread.start()

    def answer(self, body: str, status: int = 200, **headers: str) -> None:
        """What it answers from now on."""
        self.body, self.status, self.headers = body.encode(), status, headers

    def end(self) -> None:
        """Stop."""
        self.go_on.set()
        self.http.shutdown()
        self.http.server_close()
        self._thread.join(10)


@contextmanager
def serving() -> Iterator[Server]:
    """A server until the end of the block."""
    made = Server()
    try:
        yield made
    finally:
        made.end()
