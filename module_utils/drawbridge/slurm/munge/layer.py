# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The cluster's munge key on a host."""

from __future__ import annotations

import base64
import binascii
import secrets
from typing import Any

from ...core.command import Command
from ...core.converge import DeviceError
from ...core.layer import Layer, Params, Unknown, Work
from ...core.units import Unit
from .io import KEY_BYTES, UNIT, Munge, present_key
from .plan import MungeState, digest_of, plan

SPEC: dict[str, Any] = {
    "key": {"type": "str", "no_log": True},
    "replace": {"type": "bool", "default": False},
}


def work(params: Params, check: bool) -> Work[MungeState]:
    """The given key, or the host's own, which is made if there is none and returned."""
    given = params["key"]
    unit = Unit(UNIT, Command(timeout_s=60))
    if not unit.read().installed:
        raise Unknown(f"{UNIT} is not installed yet", **({"key": ""} if given is None else {}))
    if given == "":
        raise Unknown("the controller's munge key is not known; let the play of the controllers run before this one")
    try:
        kept = b"" if params["replace"] else present_key()
        key = (kept or secrets.token_bytes(KEY_BYTES)) if given is None else base64.b64decode(given, validate=True)
    except binascii.Error as err:
        raise DeviceError(f"key is not Base64 ({err}); pass the key that it returned on the controller") from err
    extra: dict[str, Any] = {"key": base64.b64encode(key).decode()} if given is None else {}
    return Work(Munge(unit, key), plan, MungeState(digest_of(key)), results_of=lambda _: extra)


SLURM_MUNGE_KEY = Layer(SPEC, work, exclusive=[("key", "replace")])
