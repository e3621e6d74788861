# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Check the rights of a run in Kubernetes; runs where the kubeconfig is."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.api.kubeconfig import Ask, Json, connect
from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.kube.rights.io import different, lacking
from ..module_utils.drawbridge.kube.rights.rbac import Right, rights_of, sentences

ARGUMENT_SPEC = {
    "objects": {"type": "list", "elements": "dict", "required": True},
    "kubeconfig": {"type": "path", "required": True},
    "repair": {"type": "str", "required": True},
}
ACT = "impersonate"


class ActionModule(ActionBase):
    """Reads rights; another person grants them."""

    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Fail if rights are missing."""
        result = super().run(tmp, task_vars)
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        try:
            missing = check(connect(args["kubeconfig"]), args["objects"])
        except DeviceError as err:
            return {**result, "failed": True, "changed": False, "msg": f"{err}; {args['repair']}", **err.details}
        if not missing:
            return {**result, "changed": False, "missing": []}
        sentence = f"the cluster lacks what an administrator gives a run: {'; '.join(missing)}; {args['repair']}"
        return {**result, "failed": True, "changed": False, "msg": sentence, "missing": missing}


def check(ask: Ask, objects: list[Json]) -> list[str]:
    """Rights of these objects that the run does not have, in words, and other objects. Raises DeviceError."""
    missing = sentences(lacking(ask, wanted(objects)))
    # a run without rights can't read them
    return missing or [f"{it['kind']} {it['metadata']['name']}" for it in different(ask, objects)]


def wanted(objects: list[Json]) -> list[Right]:
    """Rights that the roles among these objects grant, except that of acting as the installer, which the run uses."""
    roles = [it for it in objects if it["kind"] in ("Role", "ClusterRole")]
    found = [right for role in roles for right in rights_of(role["rules"], role["metadata"].get("namespace", ""))]
    return [right for right in found if right.verb != ACT]
