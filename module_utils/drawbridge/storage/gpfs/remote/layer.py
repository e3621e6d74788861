# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The two sides of a remote mount."""

from __future__ import annotations

from functools import partial
from typing import Any

from ....core.command import Command
from ....core.layer import Layer, Params, Work
from ..io import MM_PATH, Mm
from .io import Client, Owner
from .plan import OwnerState, RemoteState, plan, plan_client
from .text import RemoteFilesystem

COMMON: dict[str, Any] = {
    "owner": {"type": "str", "required": True},
    "fingerprint": {"type": "str", "required": True},
    "client": {"type": "str", "required": True},
    "client_fingerprint": {"type": "str", "required": True},
    "key": {"type": "str", "default": "", "no_log": False},
    "filesystems": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            "device": {"type": "str", "required": True},
            "mount": {"type": "path", "required": True},
            "owner_device": {"type": "str", "required": True},
            "access": {"type": "str", "choices": ["rw", "ro"], "default": "rw"},
        },
    },
    "mm_path": {"type": "path", "default": MM_PATH},
    "lock_wait_s": {"type": "int", "default": 600},
    "timeout_s": {"type": "int", "default": 120},
}
AUTH_SPEC: dict[str, Any] = {**COMMON, "root": {"type": "str", "default": "no"}}
REMOTE_SPEC: dict[str, Any] = {
    **COMMON,
    "contacts": {"type": "list", "elements": "str", "required": True},
    "uid_remapping": {"type": "bool", "default": False},
}


def _mm(params: Params) -> Mm:
    return Mm(Command(params["timeout_s"]), params["mm_path"], params["lock_wait_s"])


def authorize(params: Params, check: bool) -> Work[OwnerState]:
    """The owner's side. A prediction needs no key: the other side's run brings it."""
    grants = {it["owner_device"]: (it["access"], params["root"]) for it in params["filesystems"]}
    want = OwnerState(params["client"], params["client_fingerprint"], grants, params["fingerprint"])
    device = Owner(_mm(params), want, params["key"], params["owner"])
    return Work(device, partial(plan, key="given" if check else params["key"]), want)


def connect(params: Params, check: bool) -> Work[RemoteState]:
    """The side that mounts."""
    mounted = {
        it["device"]: RemoteFilesystem(it["owner_device"], params["owner"], it["mount"], it["access"])
        for it in params["filesystems"]
    }
    want = RemoteState(
        params["owner"],
        tuple(params["contacts"]),
        params["fingerprint"],
        mounted,
        params["client_fingerprint"],
        params["uid_remapping"],
    )
    device = Client(_mm(params), want, params["key"])
    return Work(device, partial(plan_client, key="given" if check else params["key"]), want)


MM_AUTH = Layer(AUTH_SPEC, authorize)
MM_REMOTE = Layer(REMOTE_SPEC, connect)
