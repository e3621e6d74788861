# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Make, change and delete objects of projects in Kubernetes, from where the kubeconfig is."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.api.kubeconfig import Ask, connect
from ..module_utils.drawbridge.core.converge import DeviceError, Settle, converge
from ..module_utils.drawbridge.kube.project_objects.io import KubeProjects
from ..module_utils.drawbridge.kube.project_objects.plan import plan, wanted

ARGUMENT_SPEC = {
    "objects": {"type": "list", "elements": "dict", "required": True},
    "ended": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "namespace": {"type": "str", "required": True},
            "project": {"type": "str", "required": True},
            "removed": {"type": "bool", "default": False},
        },
    },
    "kubeconfig": {"type": "path", "required": True},
    "timeout_s": {"type": "float", "default": 30},
}


class ActionModule(ActionBase):
    """Reads, plans, applies, reads back."""

    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return steps and diff."""
        result = super().run(tmp, task_vars)
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        try:
            return {**result, **made(connect(args["kubeconfig"]), args, bool(self._task.check_mode))}
        except DeviceError as err:
            return {**result, "failed": True, "changed": False, "msg": str(err), **err.details}


def made(ask: Ask, args: dict[str, Any], check: bool) -> dict[str, Any]:
    """Converge the cluster's objects of projects. Raises DeviceError."""
    cluster = KubeProjects(ask, args["objects"], args.get("ended", ()))
    outcome = converge(cluster, plan, wanted(args["objects"]), check=check, settle=Settle(args["timeout_s"]))
    return {**outcome.result(), "failed": bool(outcome.error), "warnings": outcome.pending}
