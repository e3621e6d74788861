# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The token of an identity of the gate on a host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...core.api.host import Server
from ...core.layer import Layer, Params, Work
from ...core.placed.text import FILE, Item, items
from .io import TokenFile
from .plan import TOKEN_FILE, TokenState, plan

MODE = "0400"
SPEC: dict[str, Any] = {**TOKEN_FILE, "token": {"type": "str", "default": "", "no_log": True}}


def work(params: Params, check: bool) -> Work[TokenState]:
    """One file."""
    want = TokenState(f"system:serviceaccount:{params['namespace']}:{params['name']}", True, params["owner"], MODE)
    server = Server(params["api_server"], params["ca_file"])
    return Work(TokenFile(Path(params["path"]), server, want, params["min_left_s"], params["token"]), plan, want)


def places(params: Params) -> list[Item]:
    """The file of the token."""
    return items(FILE, [params["path"]])


GATE_TOKEN_HOST = Layer(SPEC, work, places=places)
