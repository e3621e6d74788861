# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The API server over one kept connection per thread, with one limit of time for the whole run."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from .states import Json

RETRIED = (429, 500, 502, 503, 504)
PAUSE_S = 0.5
REQUEST_S = 10.0  # one answer; shorter than any patience, so that a silent server is asked again


class Unreachable(Exception):
    """The API server gave no answer in time; what was asked may or may not have been done."""


class Answer(NamedTuple):
    """Status and body; `message` is the server's reason when it refused."""

    status: int
    body: Json

    @property
    def ok(self) -> bool:
        """The request was carried out."""
        return self.status < 300

    @property
    def message(self) -> str:
        """Why not."""
        return str(self.body.get("message", f"HTTP {self.status}"))


class Api:
    """One identity's view of the API server. Safe to use from several threads."""

    def __init__(self, url: str, ca_file: str, token_file: str, patience_s: float) -> None:
        """`patience_s` bounds everything that is asked through this object, counted from now."""
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or 443
        self._ca_file, self._token_file = ca_file, Path(token_file)
        self._deadline = time.monotonic() + patience_s
        self._local = threading.local()

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Answer:
        """Ask until there is an answer that means something. Raises Unreachable when time is up.

        A request may reach the server twice, so callers take "it is already so" for an answer.
        """
        while True:
            try:
                answer = self._ask(method, path, body, kind)
                if answer.status not in RETRIED:
                    return answer
                trouble = answer.message
            except (OSError, http.client.HTTPException) as err:
                self._drop()
                trouble = f"{type(err).__name__}: {err}"
            if time.monotonic() + PAUSE_S >= self._deadline:
                raise Unreachable(f"the API server at {self._host}:{self._port} does not answer: {trouble}")
            time.sleep(PAUSE_S)

    def get(self, path: str, **query: str) -> Answer:
        """GET; a list is consistent, because no resourceVersion is ever given."""
        return self.call("GET", f"{path}?{urlencode(query, quote_via=quote)}" if query else path)

    def _ask(self, method: str, path: str, body: Any, kind: str) -> Answer:
        connection = self._connection()
        headers = {
            "Authorization": f"Bearer {self._token_file.read_text().strip()}",
            "Accept": "application/json",
            "Content-Type": kind,
        }
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read().decode(errors="replace")
        return Answer(response.status, _json(text))

    def _connection(self) -> http.client.HTTPSConnection:
        connection: http.client.HTTPSConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            context = ssl.create_default_context(cafile=self._ca_file)
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=REQUEST_S, context=context)
            self._local.connection = connection
        return connection

    def _drop(self) -> None:
        if connection := getattr(self._local, "connection", None):
            connection.close()
        self._local.connection = None


def _json(text: str) -> Json:
    try:
        body = json.loads(text)
    except ValueError:
        return {"message": text.strip()}
    return body if isinstance(body, dict) else {"items": body}
