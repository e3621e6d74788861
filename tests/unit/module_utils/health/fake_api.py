# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An API server with Node objects alone, over TLS: lists in pages, and strategic merge patches of conditions."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lab.kubernetes.pki import Authority

Json = dict[str, Any]
Answer = tuple[int, Any]


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is part of a test."""


class FakeApi:
    """Keeps all requests. `refuse` answers in its place; `drips` never ends an answer."""

    def __init__(self, folder: Path, address: str = "127.0.0.1") -> None:
        self.nodes: dict[str, Json] = {}
        self.asked: list[tuple[str, str, str]] = []
        """Method, path with query, bearer."""
        self.connections: set[Any] = set()
        self.refuse: Callable[[str, str], Answer | None] = lambda method, path: None
        self.drips, self.over = False, threading.Event()
        authority = Authority.ensure(folder / "pki")
        self.ca_file = folder / "ca.crt"
        self.ca_file.write_bytes(authority.ca.certificate)
        pair = authority.server("api", (address,))
        (folder / "server.pem").write_bytes(pair.certificate + pair.key)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(folder / "server.pem")
        self.http = _Quiet(("127.0.0.1", 0), self._handler())
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.http.server_address[1]}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._answer(lambda: (200, outer.page(parse_qs(urlsplit(self.path).query))))

            def do_PATCH(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                assert self.headers["Content-Type"] == "application/strategic-merge-patch+json"
                self._answer(lambda: outer.patched(urlsplit(self.path).path.split("/")[4], body))

            def _answer(self, make: Callable[[], Answer]) -> None:
                outer.asked.append((self.command, self.path, self.headers["Authorization"]))
                outer.connections.add(self.client_address)
                status, answer = outer.refuse(self.command, self.path) or make()
                text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(text) + (1 << 30) * outer.drips))
                self.end_headers()
                self.wfile.write(text)
                while outer.drips and not outer.over.wait(0.001):
                    self.wfile.write(b" ")

            def log_message(self, format: str, *args: Any) -> None:
                """Tests have what there is to know."""

        return Handler

    def page(self, query: dict[str, list[str]]) -> Json:
        """A page of nodes; `continue` is the number of the next one."""
        limit, first = int(query["limit"][0]), int(query.get("continue", ["0"])[0])
        names = sorted(self.nodes)
        more = {"continue": str(first + limit)} if first + limit < len(names) else {}
        return {"metadata": more, "items": [self.nodes[name] for name in names[first : first + limit]]}

    def patched(self, name: str, body: Json) -> Answer:
        """A strategic merge of conditions, by their type."""
        if name not in self.nodes:
            return 404, {"message": f'nodes "{name}" not found'}
        there = self.nodes[name]["status"]["conditions"]
        for it in body["status"]["conditions"]:
            at = next((at for at, old in enumerate(there) if old["type"] == it["type"]), len(there))
            there[at : at + 1] = [] if it.get("$patch") == "delete" else [{**(there[at : at + 1] or [{}])[0], **it}]
        return 200, self.nodes[name]


@contextmanager
def serving(folder: Path, address: str = "127.0.0.1") -> Iterator[FakeApi]:
    """An API server, until the end of the block."""
    made = FakeApi(folder, address)
    thread = threading.Thread(target=made.http.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield made
    finally:
        made.over.set()
        made.http.shutdown()
        thread.join()
        made.http.server_close()
