# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Queries to Prometheus' HTTP API, bounded in time and size. The only input and output of a job's report."""

from __future__ import annotations

import json
import math
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException
from typing import Any, NamedTuple

from .queries import Query

TIMEOUT_S = 20.0
MOST_BYTES = 8 << 20
"""Of an answer. Queries of a job have a few values."""
PIECE = 1 << 16


class Unknown(Exception):
    """Prometheus gave no answer to a query."""


class Silent(Unknown):
    """Prometheus can't be reached, so that further queries are useless now."""


class Found(NamedTuple):
    """One value, and the labels of its series."""

    labels: Mapping[str, str]
    value: float


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An answer that leads elsewhere is an error: urllib would repeat a POST as a GET without its query."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Prometheus:
    """One server, without a proxy. https needs a certificate that the host's CAs, or those of the file `ca`, signed."""

    def __init__(self, url: str, ca: str = "", timeout_s: float = TIMEOUT_S) -> None:
        self._url, self._ca, self._timeout_s = f"{url.rstrip('/')}/api/v1/query", ca, timeout_s
        self._opener: urllib.request.OpenerDirector | None = None

    def ask(self, query: str, at: float) -> list[Found]:
        """The instant vector of a query at a time. Raises Unknown, or Silent."""
        form = {"query": query, "time": f"{at:.3f}", "timeout": f"{self._timeout_s:g}s"}
        deadline = time.monotonic() + self._timeout_s
        try:
            request = urllib.request.Request(self._url, urllib.parse.urlencode(form).encode())
            with self._connected().open(request, timeout=self._timeout_s) as answer:
                return vector(_read(answer, deadline))
        except urllib.error.HTTPError as err:
            with err:
                raise Unknown(f"Prometheus refused the query: {_reason(err, deadline)}") from err
        except (OSError, HTTPException) as err:
            # of a failed connection urllib wraps the cause
            raise Silent(f"Prometheus does not answer at {self._url}: {getattr(err, 'reason', err)}") from err
        except ValueError as err:
            raise Unknown(f"{self._url} does not answer as Prometheus does: {err}") from err

    def _connected(self) -> urllib.request.OpenerDirector:
        if self._opener is None:
            try:
                context = ssl.create_default_context(cafile=self._ca or None)
            except OSError as err:
                raise Unknown(f"certificates of CAs in {self._ca} can't be read: {err}") from err
            https = urllib.request.HTTPSHandler(context=context)
            self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), https, _NoRedirect())
        return self._opener


def _read(answer: Any, deadline: float) -> str:
    """The body. Raises TimeoutError, or ValueError for one without end. A socket's time limit holds for each piece."""
    pieces: list[bytes] = []
    size = 0
    while piece := answer.read1(PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES >> 20} MiB")
        if time.monotonic() > deadline:
            raise TimeoutError("the time limit ended")
    return b"".join(pieces).decode(errors="replace")


def _reason(err: urllib.error.HTTPError, deadline: float) -> str:
    """Prometheus' own words, or the status alone."""
    try:
        return str(json.loads(_read(err, deadline))["error"])[:200]
    except (OSError, HTTPException, ValueError, LookupError, TypeError, AttributeError):
        return f"HTTP {err.code}"


def vector(text: str) -> list[Found]:
    """The values of an answer, without those that are no number. Raises ValueError for any other text."""
    try:
        said = json.loads(text)
        if said["status"] != "success":
            raise ValueError(str(said.get("error", "no success"))[:200])
        data = said["data"]
        if data["resultType"] != "vector":
            raise ValueError(f"a {data['resultType']} instead of a vector")
        rows = [(dict(row["metric"]), float(row["value"][1])) for row in data["result"]]
    except (LookupError, TypeError, AttributeError) as err:
        raise ValueError(f"{type(err).__name__}: {err}") from err
    return [Found(labels, value) for labels, value in rows if math.isfinite(value)]


class Answers(NamedTuple):
    """What Prometheus knows of a job."""

    values: list[Found]
    unknown: dict[str, str]
    """Queries without an answer, by name, and why."""
    silent: bool
    """Prometheus can't be reached."""


def answers(ask: Callable[[str, float], list[Found]], wanted: Mapping[str, Query]) -> Answers:
    """Answers to a job's queries. After one that found Prometheus silent, the others are not sent."""
    values: list[Found] = []
    unknown: dict[str, str] = {}
    silent = ""
    for name, query in wanted.items():
        try:
            if not silent:
                values += ask(query.text, query.at)
        except Silent as err:
            silent = str(err)
        except Unknown as err:
            unknown[name] = str(err)
        if silent:
            unknown[name] = silent
    return Answers(values, unknown, bool(silent))
