# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The API server as a host asks it: once more, too, while it may only be slow, or not know us yet."""

from __future__ import annotations

import http.client
import json
import ssl
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

REQUEST_S = 60.0
PATIENCE_S = 90.0
"""Until then a server is asked again that is silent, overloaded, or has lost its etcd."""
PAUSE_S = 5.0
REFUSED, REFUSALS = (401, 403), 3
"""A server that has just started knows neither accounts nor rights; who is refused so often is refused."""
OVERLOADED, BROKEN = 429, 500


@dataclass(frozen=True)
class Server:
    """Where it is, and who vouches for it."""

    url: str
    ca_file: str

    def ask(self, request: urllib.request.Request, certificate: str | None = None) -> dict[str, Any]:
        """The answer. Raises HTTPError for one that is no success, any other OSError or ValueError for want of one."""
        deadline, refusals = time.monotonic() + PATIENCE_S, 0
        while True:
            context = ssl.create_default_context(cafile=self.ca_file)  # what is wrong here stays so, and is raised
            if certificate:
                context.load_cert_chain(certificate)
            try:
                return _once(request, context)
            except OSError as err:
                refusals += _status(err) in REFUSED
                if refusals >= REFUSALS or not _passes(err) or time.monotonic() + PAUSE_S >= deadline:
                    raise
            time.sleep(PAUSE_S)


def _once(request: urllib.request.Request, context: ssl.SSLContext) -> dict[str, Any]:
    """What the server says now; no proxy stands between hosts and their API server."""
    https, direct = urllib.request.HTTPSHandler(context=context), urllib.request.ProxyHandler({})
    try:
        with urllib.request.build_opener(https, direct).open(request, timeout=REQUEST_S) as answer:
            return json.load(answer)
    except http.client.HTTPException as err:
        raise ConnectionError(f"its answer broke off: {err!r}") from err


def _status(err: OSError) -> int:
    """What it answered; 0 for no answer."""
    return err.code if isinstance(err, urllib.error.HTTPError) else 0


def _passes(err: OSError) -> bool:
    """Whether another look may see something else. Somebody else's certificate stays that."""
    if isinstance(getattr(err, "reason", err), ssl.SSLCertVerificationError):
        return False
    return _status(err) in (0, OVERLOADED, *REFUSED) or _status(err) >= BROKEN
