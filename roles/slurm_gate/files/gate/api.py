# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Client of the API server: one kept connection per thread, one time limit for the whole run."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from .clock import Clock
from .config import Refused
from .states import Json

# a refused token may just have been replaced in its file; a server that has just started accepts none yet
UNAUTHORIZED = 401
SERVER_ERROR = 500
RETRIED = (UNAUTHORIZED, 429, 500, 502, 503, 504)
NOT_READY = "not yet ready to handle request"  # admission answers so, with 403, until it has read its policies
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
PAUSE_S = 0.5
REQUEST_S = 10.0  # one answer; shorter than any time limit, so that the client tries a silent server again


class Unreachable(Exception):
    """The API server did not answer in time; it may have carried out the request."""


class Answer(NamedTuple):
    """Status and body; `message` is the server's reason when it refused."""

    status: int
    body: Json
    again: bool = False
    """Sent before without an answer: that request may have been carried out."""

    @property
    def ok(self) -> bool:
        """Whether the request was carried out."""
        return self.status < 300

    @property
    def message(self) -> str:
        """The server's reason for a refusal."""
        return str(self.body.get("message", f"HTTP {self.status}"))


class Api:
    """The API server, as one identity. Safe to use from several threads."""

    def __init__(self, url: str, ca_file: str, token_file: str, patience_s: float, clock: Clock) -> None:
        """`patience_s` limits all requests of this object together."""
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or 443
        self._ca_file, self._token_file = ca_file, Path(token_file)
        self._clock, self._deadline = clock, clock.now() + patience_s
        self._local = threading.local()

    def call(
        self, method: str, path: str, body: Any = None, kind: str = "application/json", accept: str = "application/json"
    ) -> Answer:
        """Send a request until the server answers it. Raises Unreachable when time is up.

        A request may reach the server twice, so callers must accept "already done" as success.
        """
        again = False
        while True:
            expired = False
            if self._clock.now() >= self._deadline:
                raise Unreachable(f"the API server at {self._host}:{self._port} takes too long: {method} {path}")
            try:
                headers = {"Accept": accept, "Content-Type": kind, "User-Agent": "drawbridge-gate"}
                answer = self._request(method, path, body, headers)
                if answer.status not in RETRIED and NOT_READY not in answer.message:
                    return answer._replace(again=again)
                trouble, expired = answer.message, answer.status == UNAUTHORIZED
                again = again or answer.status >= SERVER_ERROR
            except (OSError, http.client.HTTPException) as err:
                self._drop()
                again = True
                trouble = f"{type(err).__name__}: {err}"
            if self._clock.now() + PAUSE_S >= self._deadline:
                if expired:
                    raise Unreachable(
                        f"the API server refuses the token in {self._token_file}; gate.yml brings a new one"
                    )
                raise Unreachable(f"the API server at {self._host}:{self._port} does not answer: {trouble}")
            self._clock.sleep(PAUSE_S)

    def get(self, path: str, accept: str = "application/json", **query: str) -> Answer:
        """GET. Lists are consistent, since no resourceVersion is sent. METADATA leaves specs out."""
        return self.call("GET", f"{path}?{urlencode(query, quote_via=quote)}" if query else path, accept=accept)

    def items(self, path: str, accept: str = "application/json", **query: str) -> list[Json]:
        """Objects of a list; none if the server has no such kind. Raises Refused."""
        answer = self.get(path, accept, **query)
        if answer.status == 404:
            return []
        if not answer.ok:
            raise Refused(f"can't list {path}: {answer.message}")
        return answer.body.get("items") or []  # an empty list of metadata is null

    def _request(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Answer:
        connection = self._connection()
        headers["Authorization"] = f"Bearer {self._token_file.read_text().strip()}"
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
