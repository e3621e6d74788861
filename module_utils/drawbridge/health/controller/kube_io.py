# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Health and the API server: one list of all nodes at a look, and a bounded number of patches after it.

A silent API server changes nothing in Slurm: what the last look found counts until the next one.
"""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from ..decide import Seen
from ..finding import Finding
from ..model import Health
from . import kube
from .kube import Condition, Json, Last, Node

NODES = "/api/v1/nodes"
MANAGER = "drawbridge-health"
STRATEGIC = "application/strategic-merge-patch+json"
READ, PATCH = "GET", "PATCH"
REQUEST_S, READ_S, WRITE_S = 10.0, 60.0, 20.0
"""Limits of one answer, of reading all nodes, and of writing conditions."""
PAGE, MOST = 500, 200
"""Nodes in one answer, and patches after one look."""
CHUNK, MOST_PARTS = 1 << 16, 1 << 14
"""Bytes that are read at once, and how often: an answer has 16 to 20 kB a node."""
REFUSED, GONE = 300, 404


class Unanswered(Exception):
    """The API server has not answered, or refuses; the message is its reason."""


@dataclass(frozen=True)
class Access:
    """Where the API server is, and how it and this program prove who they are."""

    url: str
    ca_file: str
    token_file: str


@dataclass(frozen=True)
class Looked:
    """A look: findings by node, the nodes that may be written (none without an answer), and sentences for the log."""

    found: Mapping[str, Sequence[Finding]]
    nodes: tuple[Node, ...] = ()
    said: tuple[str, ...] = ()


class Api:
    """The API server on one kept connection, within one limit."""

    def __init__(self, access: Access, limit_s: float) -> None:
        """Raises OSError or ValueError for a CA file or token that can't be read."""
        parts = urlsplit(access.url)
        self._where = f"{parts.hostname}:{parts.port or 443}"
        context = ssl.create_default_context(cafile=access.ca_file)
        self._connection = http.client.HTTPSConnection(
            parts.hostname or "", parts.port or 443, timeout=REQUEST_S, context=context
        )
        token = Path(access.token_file).read_text(encoding="utf-8").strip()
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json", "User-Agent": MANAGER}
        self._end = time.monotonic() + limit_s

    def call(self, method: str, path: str, body: Json | None = None) -> tuple[int, Json]:
        """Status and answer. Raises Unanswered, also when time is up."""
        if time.monotonic() >= self._end:
            raise Unanswered(f"the API server at {self._where} takes too long")
        try:
            text = None if body is None else json.dumps(body)
            self._connection.request(method, path, text, {**self._headers, "Content-Type": STRATEGIC})
            response = self._connection.getresponse()
            return response.status, _json(self._content(response))
        except (OSError, http.client.HTTPException) as err:
            raise Unanswered(f"the API server at {self._where} does not answer: {type(err).__name__}: {err}") from err

    def _content(self, response: http.client.HTTPResponse) -> bytes:
        """All of an answer, however slowly it comes. Raises Unanswered."""
        parts: list[bytes] = []
        while part := response.read1(CHUNK):
            parts.append(part)
            if time.monotonic() >= self._end or len(parts) > MOST_PARTS:
                raise Unanswered(f"an answer of the API server at {self._where} does not end")
        return b"".join(parts)

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


def _json(text: bytes) -> Json:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"message": text[:200].decode(errors="replace").strip()}


def look(access: Access, health: Health, slurm: Sequence[Seen], file: Path, now: float) -> Looked:
    """Read all nodes, unless the last look was expensive and is young. `file` keeps the last look."""
    last = _last(file)
    before = kube.of_drains(slurm, health) if last.found is None else last.found
    if not last.due(now):
        return Looked(before)
    began = time.monotonic()
    try:
        nodes = _nodes(access, health)
    except (Unanswered, OSError, ValueError) as err:
        return Looked(before, said=(f"conditions and cordons count as before: {err}",))
    found, said = kube.found(nodes, health, before)
    try:
        _keep(file, Last(now, time.monotonic() - began, found))
    except OSError as err:
        said.append(f"the next look won't know this one: {err}")
    return Looked(found, nodes, tuple(said))


def _nodes(access: Access, health: Health) -> tuple[Node, ...]:
    """All nodes, page by page. Raises Unanswered, OSError, or ValueError for an answer that is no list of nodes."""
    api, query = Api(access, READ_S), {"limit": str(PAGE)}
    nodes: list[Node] = []
    try:
        while True:
            status, answer = api.call(READ, f"{NODES}?{urlencode(query)}")
            if status >= REFUSED:
                raise Unanswered(f"the API server lists no nodes: {answer.get('message', status)}")
            items, about = answer.get("items"), answer.get("metadata")
            if not (isinstance(items, list) and isinstance(about, dict)):
                raise ValueError("the API server's answer is no list of nodes")
            nodes += [kube.node(it, health.conditions) for it in items]
            if not about.get("continue"):
                return tuple(nodes)
            query["continue"] = about["continue"]
    finally:
        api.close()


def report(access: Access, looked: Looked, slurm: Iterable[Seen], now: float, most: int = MOST) -> tuple[str, ...]:
    """Write the conditions that differ from Slurm's records. Returns sentences about those that were not written."""
    wanted: dict[str, Condition] = {it.name: kube.condition(it, looked.found.get(it.name, ())) for it in slurm}
    changes = kube.patches(looked.nodes, wanted, now, most)
    if not (changes and wanted):
        return ()
    try:
        api = Api(access, WRITE_S)
        try:
            refused = [f"{name}: {why}" for name, body in changes for why in _write(api, name, body)]
        finally:
            api.close()
    except (Unanswered, OSError, ValueError) as err:
        return (f"not all conditions of nodes were written: {err}",)
    return (f"{len(refused)} of {len(changes)} conditions of nodes were refused, {refused[0]}",) if refused else ()


def _write(api: Api, node: str, body: Json) -> list[str]:
    """Why the API server refused; a node that has just left is no refusal. Raises Unanswered."""
    status, answer = api.call(PATCH, f"{NODES}/{node}/status?fieldManager={MANAGER}", body)
    return [] if status < REFUSED or status == GONE else [str(answer.get("message", status))]


def _last(file: Path) -> Last:
    """The last look; an empty one without a readable file."""
    try:
        return Last.parse(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Last()


def _keep(file: Path, last: Last) -> None:
    """Replace the file, for root alone. Raises OSError."""
    partial = file.with_name(f".{file.name}.partial")
    partial.touch(mode=0o600)
    partial.write_text(last.text(), encoding="utf-8")
    partial.replace(file)
