# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Install IBM's driver of Storage Scale, change it, or take it away; runs where the kubeconfig is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.api.kubeconfig import Ask, connect
from ..module_utils.drawbridge.core.consent import VARIABLES_ARGUMENT, variable
from ..module_utils.drawbridge.core.converge import DeviceError, Settle, converge
from ..module_utils.drawbridge.kube.releases.manifests import differences
from ..module_utils.drawbridge.storage.gpfs.csi.io import ScaleDriver, Wanted, fetched
from ..module_utils.drawbridge.storage.gpfs.csi.manifest import operator
from ..module_utils.drawbridge.storage.gpfs.csi.plan import (
    DriverState,
    credentials_fault,
    labels,
    plan,
    plan_removal,
    sidecars_fault,
)

ARGUMENT_SPEC = {
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "source": {"type": "str", "default": ""},
    "digest": {"type": "str", "default": ""},
    "objects": {"type": "list", "elements": "dict", "default": []},
    "resource": {"type": "dict", "default": {}},
    "credentials": {"type": "dict", "default": {}, "no_log": True},
    "mounted": {"type": "list", "elements": "str", "default": []},
    "infra": {"type": "list", "elements": "str", "default": []},
    "adopt": {"type": "bool", "default": False},
    "kubeconfig": {"type": "path", "required": True},
    "timeout_s": {"type": "float", "default": 180},
    **VARIABLES_ARGUMENT,
}


class ActionModule(ActionBase):
    """Reads every object; writes those that differ; waits until the driver works."""

    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return steps and diff."""
        result = super().run(tmp, task_vars)
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        try:
            found = made(connect(args["kubeconfig"]), args, bool(self._task.check_mode))
        except DeviceError as err:
            found = {"failed": True, "changed": False, "msg": str(err), **err.details}
        return {**result, **without(found, passwords(args["credentials"]))}


def made(ask: Ask, args: dict[str, Any], check: bool) -> dict[str, Any]:
    """Converge, and compare the operator's word with the driver's pods. Raises DeviceError."""
    present = args["state"] == "present"
    if present and (why := sidecars_fault(args["mounted"], args["infra"])):
        raise DeviceError(why)
    driver = ScaleDriver(ask, differences, wanted(args) if present else None, args["timeout_s"])
    mounted = {name: name in args["infra"] for name in args["mounted"]} if present else {}
    want = DriverState(nodes=labels(mounted))
    steps = plan if present else plan_removal
    outcome = converge(driver, steps, want, check=check, settle=Settle(args["timeout_s"]), options=args)
    warnings = list(outcome.pending)
    if present and not outcome.error and not (check and outcome.changed):
        why, later = (driver.now if check else driver.wait)()
        outcome = outcome if check else replace(outcome, error=why)
        warnings += [it for it in ((why if check else ""), later) if it]
    return {**outcome.result(), "failed": bool(outcome.error), "warnings": warnings}


def wanted(args: dict[str, Any]) -> Wanted:
    """Objects of the driver. Raises DeviceError for credentials that are missing, and for another manifest."""
    if why := credentials_fault(args["resource"], args["credentials"], variable(args, "credentials")):
        raise DeviceError(why)
    manifest = operator(fetched(args["source"], variable(args, "source")), args["digest"], args["source"])
    named = variable(args, "credentials")
    return Wanted(manifest, args["objects"], args["resource"], args["credentials"], named)


def passwords(credentials: dict[str, Any]) -> list[str]:
    """All passwords."""
    return [str(it["password"]) for it in credentials.values() if isinstance(it, dict) and it.get("password")]


def without(item: Any, secrets: list[str]) -> Any:
    """The result without them, in case the API server quotes one."""
    if isinstance(item, dict):
        return {key: without(value, secrets) for key, value in item.items()}
    if isinstance(item, list):
        return [without(value, secrets) for value in item]
    for secret in secrets if isinstance(item, str) else ():
        item = item.replace(secret, "********")
    return item
