# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The real client against a small HTTP server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api.kubeconfig import connect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError

ANSWERS = {
    "/nothing": b"404 page not found",
    "/events": b'{"type": "ADDED", "object": {"a": "\\u2028"}}\n{"type": "DELETED"}\n{"type": "ADD',
    "/quiet": b"",
}
SEEN: list[tuple[str, str, dict[str, Any], str]] = []


class Handler(BaseHTTPRequestHandler):
    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        SEEN.append((self.command, self.path, {key.lower(): self.headers.get_all(key) for key in self.headers}, body))
        text = ANSWERS.get(self.path, b'{"kind": "Thing"}')
        self.send_response(404 if self.path == "/nothing" else 200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PATCH = do_POST = answer  # names that http.server wants

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}
    user = {"name": "u", "user": {"token": "t0ken"}}
    context = {"name": "x", "context": {"cluster": "c", "user": "u"}}
    path = tmp_path / "kubeconfig"
    path.write_text(
        json.dumps(
            {"current-context": "x", "clusters": [cluster], "users": [user], "contexts": [context], "kind": "Config"}
        )
    )
    SEEN.clear()
    yield path
    server.shutdown()
    server.server_close()


def test_every_question_is_the_installers(kubeconfig: Path) -> None:
    ask = connect(str(kubeconfig))
    assert ask("GET", "/api/v1/nodes", None) == (200, {"kind": "Thing"})
    ((verb, path, headers, body),) = SEEN
    assert (verb, path, body) == ("GET", "/api/v1/nodes", "")
    assert headers["impersonate-user"] == ["drawbridge"]
    assert headers["impersonate-group"] == ["drawbridge:platform", "drawbridge:installer"]
    assert headers["authorization"] == ["Bearer t0ken"]


@pytest.mark.parametrize(
    ("method", "verb", "kind"),
    [
        ("PATCH", "PATCH", "application/merge-patch+json"),
        ("APPLY", "PATCH", "application/apply-patch+yaml"),
        ("POST", "POST", "application/json"),
    ],
)
def test_a_body_is_sent_with_its_content_type(kubeconfig: Path, method: str, verb: str, kind: str) -> None:
    connect(str(kubeconfig))(method, "/x", {"a": 1})
    ((seen, _, headers, body),) = SEEN
    assert (seen, headers["content-type"], json.loads(body)) == (verb, [kind], {"a": 1})


def test_a_watch_returns_its_whole_events(kubeconfig: Path) -> None:
    ask = connect(str(kubeconfig))
    events = [{"type": "ADDED", "object": {"a": "\u2028"}}, {"type": "DELETED"}]
    assert ask("WATCH", "/events", None) == (200, {"items": events})
    assert ask("WATCH", "/quiet", None) == (200, {"items": []})
    assert ask("WATCH", "/nothing", None) == (404, {"message": "404 page not found"})
    assert [verb for verb, *_ in SEEN] == ["GET"] * 3


def test_an_answer_that_is_not_json_is_a_message(kubeconfig: Path) -> None:
    assert connect(str(kubeconfig))("GET", "/nothing", None) == (404, {"message": "404 page not found"})


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("", "no kubeconfig is set; export KUBECONFIG=FILE"),
        ("{}/none", "none' is no file; export KUBECONFIG=FILE"),
        ("{}", "' is no file"),
        ("{}/none:{}/other", "is a list; export KUBECONFIG with the one file"),
        ("{}/text", "can't be used"),
    ],
)
def test_a_kubeconfig_that_is_none_is_refused_with_its_repair(named: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("root:x:0:0\n")
    with pytest.raises(DeviceError, match=said):
        connect(named.replace("{}", str(tmp_path)))
