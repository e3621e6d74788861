# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Placement rules for projects' filesets in the policy of one file system."""

from __future__ import annotations

import re
from typing import Any

from ....core.command import Command
from ....core.consent import VARIABLES_ARGUMENT
from ....core.converge import DeviceError, Step, refusals
from ....core.layer import Layer, Params, Work, records
from ..filesystem_io import COMMON_SPEC
from ..io import Mm
from .io import Policy
from .plan import PolicyState, Wanted, plan

SPEC: dict[str, Any] = {
    **COMMON_SPEC,
    "filesets": records(name={"type": "str", "required": True}, pool={"type": "str", "required": True}),
    "keep": {"type": "list", "elements": "str", "default": []},
    "default_pool": {"type": "str", "default": ""},
    "into_site_policy": {"type": "bool", "default": False},
    **VARIABLES_ARGUMENT,
}
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}")
"""Names that can't end a quotation."""


def wanted(params: Params) -> Wanted:
    """The rules that the options describe. Raises DeviceError for a name that a policy can't have."""
    pools = {it["name"]: it["pool"] for it in params["filesets"]}
    for name in (*pools, *pools.values(), params["default_pool"] or "system"):
        if not NAME.fullmatch(name):
            raise DeviceError(f"{name!r} is no name for a policy; use letters, digits, dots, dashes and underscores")
    if len(pools) < len(params["filesets"]):
        raise DeviceError("filesets: a name is listed twice")
    return Wanted(params["device"], pools, params["default_pool"], frozenset(params["keep"]))


def work(params: Params, check: bool) -> Work[PolicyState]:
    """The policy with Drawbridge's block. In check mode GPFS validates it."""
    want = wanted(params)
    device = Policy(Mm(Command(params["timeout_s"]), params["mm_path"], params["lock_wait_s"]), params["device"])
    waiting: list[str] = []

    def planned(have: PolicyState, _: PolicyState) -> list[Step[PolicyState]]:
        steps = plan(have, want)
        if check and steps and not refusals(steps, params):
            waiting.extend(_tested(device, steps[0].payload, list(want.pools)))
        return steps

    return Work(device, planned, PolicyState(""), results_of=lambda _: {"warnings": waiting} if waiting else {})


def _tested(device: Policy, policy: str, names: list[str]) -> list[str]:
    """Warnings. Raises DeviceError if GPFS refuses the policy, unless filesets are still missing."""
    try:
        device.test(policy)
    except DeviceError as err:
        if not (missing := device.missing(names)):
            raise
        return [f"GPFS can't validate the policy before these filesets exist: {', '.join(missing)}; it says: {err}"]
    return []


MM_POLICY = Layer(SPEC, work)
