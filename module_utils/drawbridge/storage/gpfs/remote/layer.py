# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The two sides of a remote mount, and the key that each gives the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from ....core.command import Command
from ....core.converge import DeviceError, Step
from ....core.layer import Layer, Params, Work, records
from ..io import MM_PATH, Mm
from . import io
from .io import Client, Owner, own_entry, public_key
from .plan import OwnerState, RemoteState, other_key, plan, plan_client
from .text import ROOT, RemoteFilesystem

READING: dict[str, Any] = {
    "cluster": {"type": "str", "required": True},
    "fingerprint": {"type": "str", "required": True},
    "mm_path": {"type": "path", "default": MM_PATH},
    "timeout_s": {"type": "int", "default": 120},
}
KEY_SPEC: dict[str, Any] = {**READING, "intent_key": {"type": "str", "default": "fingerprint", "no_log": False}}
CHANGING: dict[str, Any] = {
    **READING,
    "key": {"type": "str", "default": "", "no_log": False},
    "lock_wait_s": {"type": "int", "default": 600},
}
ACCESS: dict[str, Any] = {"type": "str", "choices": ["rw", "ro"], "default": "rw"}
AUTH_SPEC: dict[str, Any] = {
    **CHANGING,
    "client": {"type": "str", "required": True},
    "client_fingerprint": {"type": "str", "required": True},
    "grants": records(
        device={"type": "str", "required": True},
        access=ACCESS,
    ),
    "root_becomes": {"type": "str", "default": ROOT},
}
REMOTE_SPEC: dict[str, Any] = {
    **CHANGING,
    "owner": {"type": "str", "required": True},
    "owner_fingerprint": {"type": "str", "required": True},
    "contacts": {"type": "list", "elements": "str", "required": True},
    "filesystems": records(
        device={"type": "str", "required": True},
        mount={"type": "path", "required": True},
        owner_device={"type": "str", "required": True},
        access=ACCESS,
    ),
    "uid_remapping": {"type": "bool", "default": False},
}


@dataclass(frozen=True)
class Key:
    """A cluster's public key and its digest."""

    digest: str = ""
    text: str = ""

    def lines(self) -> list[str]:
        """The digest."""
        return [self.digest]


class _Reading:
    """The key of this host's cluster, only read."""

    name = "GPFS key"

    def __init__(self, mm: Mm, cluster: str, wanted: str, intent_key: str) -> None:
        self._mm, self._cluster, self._wanted, self._intent_key = mm, cluster, wanted, intent_key
        self.key = Key()

    def read(self) -> Key:
        digest = own_entry(self._mm, self._cluster, ".")[0].digest
        if why := other_key(digest, self._wanted, self._intent_key):
            raise DeviceError(why)
        self.key = Key(digest, public_key(io.KEYS))
        return self.key

    def apply(self, steps: Any) -> None:
        """Nothing is planned."""


def _mm(params: Params) -> Mm:
    return Mm(Command(params["timeout_s"]), params["mm_path"], params.get("lock_wait_s", 0))


def read_key(params: Params, check: bool) -> Work[Key]:
    """The public key of this host's cluster, if it has the intent's digest."""
    device = _Reading(_mm(params), params["cluster"], params["fingerprint"], params["intent_key"])
    nothing: list[Step[Key]] = []
    return Work(device, lambda have, want: nothing, Key(), results_of=lambda _: {"public_key": device.key.text})


def authorize(params: Params, check: bool) -> Work[OwnerState]:
    """The owner's side."""
    grants = {it["device"]: (it["access"], params["root_becomes"]) for it in params["grants"]}
    want = OwnerState(params["client"], params["client_fingerprint"], grants, params["fingerprint"])
    device = Owner(_mm(params), want, params["key"], params["cluster"])
    return Work(device, partial(plan, key=params["key"]), want)


def connect(params: Params, check: bool) -> Work[RemoteState]:
    """The accessing cluster's side."""
    mounted = {
        it["device"]: RemoteFilesystem(it["owner_device"], params["owner"], it["mount"], it["access"])
        for it in params["filesystems"]
    }
    want = RemoteState(
        params["owner"],
        tuple(params["contacts"]),
        params["owner_fingerprint"],
        mounted,
        params["fingerprint"],
        params["uid_remapping"],
    )
    device = Client(_mm(params), want, params["key"], params["cluster"])
    return Work(device, partial(plan_client, key=params["key"]), want)


MM_KEY_INFO = Layer(KEY_SPEC, read_key)
MM_AUTH = Layer(AUTH_SPEC, authorize)
MM_REMOTE = Layer(REMOTE_SPEC, connect)
