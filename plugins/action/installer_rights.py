# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Compare what an administrator gives a run in Kubernetes; runs where the kubeconfig is."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.api.kubeconfig import Ask, Json, connect
from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.kube.rights.io import different, lacking
from ..module_utils.drawbridge.kube.rights.rbac import ROLE, Right, rights_of, sentences

ARGUMENT_SPEC = {
    "objects": {"type": "list", "elements": "dict", "required": True},
    "manifest": {"type": "str", "required": True},
    "kubeconfig": {"type": "path", "required": True},
    "repair": {"type": "str", "required": True},
}


class ActionModule(ActionBase):
    """Reads; another person grants."""

    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Fail if rights or objects are missing; warn of rights that are too many."""
        result = {**super().run(tmp, task_vars), "changed": False}
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        try:
            ask = connect(args["kubeconfig"])
            missing = check(ask, args["objects"])
            more = [] if missing else surplus(ask, args["objects"])
        except DeviceError as err:
            return {**result, "failed": True, "msg": f"{err}; {args['repair']}", **err.details}
        if missing:
            sentence = f"the cluster lacks what an administrator gives a run: {'; '.join(missing)}; {args['repair']}"
            return {**result, "failed": True, "msg": sentence, "missing": missing}
        warnings = [f"a run has rights that the intent does not need, in {'; '.join(more)}: {args['repair']}"]
        return {**result, "missing": [], **({"warnings": warnings} if more else {})}


def check(ask: Ask, objects: list[Json]) -> list[str]:
    """Rights of a run that it does not have, in words, and other objects that are not so. Raises DeviceError."""
    missing = sentences(lacking(ask, wanted(objects)))
    # a run without rights can't read them
    return missing or named(different(ask, [it for it in objects if not of_run(it)]))


def surplus(ask: Ask, objects: list[Json]) -> list[str]:
    """Roles of a run, which has all rights that it needs, with other rules. Raises DeviceError."""
    return named(different(ask, [it for it in objects if of_run(it)]))


def wanted(objects: list[Json]) -> list[Right]:
    """Rights of a run."""
    roles = [it for it in objects if of_run(it)]
    return [right for role in roles for right in rights_of(role["rules"], role["metadata"].get("namespace", ""))]


def of_run(item: Json) -> bool:
    """Whether an object is a role of a run."""
    return item["kind"] in ("Role", "ClusterRole") and item["metadata"]["name"] == ROLE


def named(objects: list[Json]) -> list[str]:
    """Kinds and names of objects."""
    metadata = [(it["kind"], it["metadata"]) for it in objects]
    return [f"{kind} {it['namespace'] + '/' if 'namespace' in it else ''}{it['name']}" for kind, it in metadata]
