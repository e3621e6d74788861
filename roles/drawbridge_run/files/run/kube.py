# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Client of the API server with the job's token: requests with retries, and streamed answers."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

from ..gate.api import NOT_READY, RETRIED, Answer, Api, Unreachable
from ..gate.clock import Clock
from ..gate.config import Refused
from ..gate.states import Json
from .site import Grant

PATIENCE_S = 60.0
SILENCE_S = 300.0  # a stream that is silent for so long is opened again


class Kube:
    """Requests with the job's token. Safe to use from several threads."""

    def __init__(self, grant: Grant, clock: Clock) -> None:
        self._grant, self._clock = grant, clock

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        """One request. Raises Unreachable when there is no answer for a minute."""
        return self._api().call(method, path, body)

    def items(self, path: str, **query: str) -> Json:
        """A list with its metadata. Raises Refused, Unreachable."""
        answer = self._api().get(path, **query)
        if not answer.ok:
            raise Refused(f"{path} can't be listed: {answer.message}")
        return answer.body

    def lines(self, path: str, **query: str) -> Iterator[str]:
        """Lines as the server sends them, until it ends the answer. Raises Refused, Unreachable."""
        stream = Stream(self._grant, self._clock)
        try:
            yield from stream.lines(f"{path}?{urlencode(query, quote_via=quote)}")
        except (OSError, http.client.HTTPException) as err:
            raise Unreachable(f"the API server broke off: {type(err).__name__}: {err}") from err
        finally:
            stream.close()

    def changes(self, path: str, version: str, **query: str) -> Iterator[Json]:
        """Changes of a list's objects since a version of it. Raises Refused, Unreachable."""
        watch = {"watch": "true", "resourceVersion": version, "timeoutSeconds": str(int(SILENCE_S) - 10)}
        for line in self.lines(path, **query, **watch):
            change = json.loads(line)
            if change["type"] == "ERROR":
                return  # this version is too old: list again
            yield change

    def _api(self) -> Api:
        return Api(self._grant.api_server, self._grant.ca_file, str(self._grant.token), PATIENCE_S, self._clock)


class Stream(Api):
    """One long answer over one connection."""

    def __init__(self, grant: Grant, clock: Clock) -> None:
        super().__init__(grant.api_server, grant.ca_file, str(grant.token), PATIENCE_S, clock)

    def lines(self, path: str) -> Iterator[str]:
        """Its lines. Raises Refused, Unreachable, OSError, HTTPException."""
        connection = self._connection()
        connection.timeout = SILENCE_S
        connection.request("GET", path, headers={"Authorization": f"Bearer {self._token_file.read_text().strip()}"})
        response = connection.getresponse()
        if response.status >= 300:
            text = reason(response.read().decode(errors="replace")) or f"HTTP {response.status}"
            raise Unreachable(text) if response.status in RETRIED or NOT_READY in text else Refused(text)
        while line := response.readline():
            yield line.decode(errors="replace").rstrip("\n")

    def close(self) -> None:
        """Close the connection."""
        self._drop()


def reason(text: str) -> str:
    """The server's reason, from the body of its refusal."""
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return text.strip()
