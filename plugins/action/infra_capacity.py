# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Check that every non-job pod fits on nodes that are never gated; runs where the kubeconfig is."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.api.kubeconfig import Ask, connect
from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.kube.capacity.io import read
from ..module_utils.drawbridge.kube.capacity.plan import faults

ARGUMENT_SPEC = {
    "infra": {"type": "list", "elements": "str", "required": True},
    "gated": {"type": "list", "elements": "str", "required": True},
    "job_namespaces": {"type": "list", "elements": "str", "default": []},
    "kubeconfig": {"type": "path", "required": True},
}


class ActionModule(ActionBase):
    """Reads nodes and pods."""

    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Fail if there are `faults`."""
        result = super().run(tmp, task_vars)
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        try:
            result |= check(connect(args["kubeconfig"]), args)
        except DeviceError as err:
            result |= {"failed": True, "msg": str(err), **err.details}
        return {"changed": False, **result}


def check(ask: Ask, args: dict[str, Any]) -> dict[str, Any]:
    """Read nodes and pods, and compare. Raises DeviceError."""
    nodes, pods = read(ask, args["job_namespaces"])
    found = faults(nodes, pods, args["infra"], args["gated"])
    if not found:
        return {"faults": []}
    return {"failed": True, "msg": "Kubernetes lacks ungated nodes:\n" + "\n".join(found), "faults": found}
