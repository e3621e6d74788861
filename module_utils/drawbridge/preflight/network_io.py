# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Probes of names, connections and paths of packets."""

from __future__ import annotations

import functools
import socket
from collections.abc import Mapping
from typing import Any

from ..core.command import Run
from .work_io import Want, read, said, together

CONNECT_S, LIMIT_S = 2, 15
SMALL, IPV4_HEADERS, IPV6_HEADERS = 56, 28, 48
"""Bytes of a ping, and of the headers before its data."""


def names(want: Want, run: Run) -> dict[str, str]:
    """Address of each wanted name, empty if it does not resolve."""
    found = together({name: functools.partial(_address, name) for name in want["names"]}, LIMIT_S)
    return {name: found.get(name, "") for name in want["names"]}


def _address(name: str) -> str:
    try:
        return str(socket.getaddrinfo(name, None)[0][4][0])
    except OSError:
        return ""


def ports(want: Want, run: Run) -> list[dict[str, Any]]:
    """Each wanted connection, and its end: open, refused or the error."""
    found = together({at: functools.partial(_connect, one) for at, one in enumerate(want["ports"])}, LIMIT_S)
    return [{**one, "end": found.get(at, "no answer")} for at, one in enumerate(want["ports"])]


def _connect(one: Mapping[str, Any]) -> str:
    try:
        socket.create_connection((one["host"], one["port"]), CONNECT_S).close()
    except ConnectionRefusedError:
        return "refused"
    except socket.gaierror:
        return "unresolved"
    except TimeoutError:
        return "no answer"
    except OSError as err:
        return str(err.strerror or err)
    return "open"


def mtu(want: Want, run: Run) -> list[dict[str, Any]]:
    """Paths that small packets pass, and whether packets of the device's MTU do, whole and in fragments."""
    found = together({name: functools.partial(_path, name, run) for name in want["paths"]}, LIMIT_S)
    return [found[name] for name in want["paths"] if isinstance(found.get(name), dict)]


def _path(to: str, run: Run) -> dict[str, Any] | None:
    """None if the other end answers no ping."""
    address = _address(to)
    words = (said(run, "ip", "-o", "route", "get", address) or "").split() if address else []
    device = words[words.index("dev") + 1] if "dev" in words else ""
    size = read(f"/sys/class/net/{device}/mtu").strip()
    if not size or not _ping(run, address, SMALL, "do"):
        return None
    whole = int(size) - (IPV6_HEADERS if ":" in address else IPV4_HEADERS)
    passes, split = (_ping(run, address, whole, how) for how in ("do", "dont"))
    return {"to": to, "by": device, "mtu": int(size), "whole": passes, "split": split}


def _ping(run: Run, address: str, size: int, fragments: str) -> bool:
    """Whether one of the pings of two seconds is answered."""
    return said(run, "ping", "-c", "1", "-w", "2", "-M", fragments, "-s", str(size), address) is not None
