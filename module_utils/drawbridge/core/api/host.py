# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Requests of a host to the API server, repeated while the failure may be temporary."""

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
"""How long requests are repeated while the server is silent, overloaded or without etcd."""
PAUSE_S = 5.0
REFUSED, MOST_REFUSALS = (401, 403), 3
"""A server that has just started refuses valid tokens, so a few refusals are no answer yet."""
OVERLOADED, BROKEN = 429, 500


@dataclass(frozen=True)
class Server:
    """Its URL, and the CA certificates that it must have."""

    url: str
    ca_file: str

    def ask(self, request: urllib.request.Request, certificate: str | None = None) -> dict[str, Any]:
        """The answer. Raises HTTPError for an error status, another OSError or ValueError without an answer."""
        deadline, refusals = time.monotonic() + PATIENCE_S, 0
        while True:
            context = ssl.create_default_context(cafile=self.ca_file)  # raises at once: its errors are permanent
            if certificate:
                context.load_cert_chain(certificate)
            try:
                return _once(request, context)
            except OSError as err:
                refusals += _status(err) in REFUSED
                if refusals >= MOST_REFUSALS or not _temporary(err) or time.monotonic() + PAUSE_S >= deadline:
                    raise
            time.sleep(PAUSE_S)


def _once(request: urllib.request.Request, context: ssl.SSLContext) -> dict[str, Any]:
    """One request, without the proxy that the environment may name."""
    https, direct = urllib.request.HTTPSHandler(context=context), urllib.request.ProxyHandler({})
    try:
        with urllib.request.build_opener(https, direct).open(request, timeout=REQUEST_S) as answer:
            return json.load(answer)
    except http.client.HTTPException as err:
        raise ConnectionError(f"its answer broke off: {err!r}") from err


def _status(err: OSError) -> int:
    """The HTTP status; 0 without an answer."""
    return err.code if isinstance(err, urllib.error.HTTPError) else 0


def _temporary(err: OSError) -> bool:
    """Whether a repetition may succeed. A certificate of another CA is permanent."""
    if isinstance(getattr(err, "reason", err), ssl.SSLCertVerificationError):
        return False
    return _status(err) in (0, OVERLOADED, *REFUSED) or _status(err) >= BROKEN
