# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Adopt nodes that Kubernetes has used so far, from where the kubeconfig is."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.api.kubeconfig import Json, connect
from ..module_utils.drawbridge.core.consent import variable
from ..module_utils.drawbridge.core.converge import DeviceError, converge, refusals
from ..module_utils.drawbridge.core.names import GATE_NAMESPACE, INSTALLER_NAMESPACE, NODES_NAMESPACE
from ..module_utils.drawbridge.gate.adoption.io import RESOURCES, KubeCluster
from ..module_utils.drawbridge.gate.adoption.operators import (
    intolerant,
    node_actors,
    setting_actors,
    workload_actors,
)
from ..module_utils.drawbridge.gate.adoption.plan import ClusterUse, NodeUse, faults, plan
from ..module_utils.drawbridge.gate.adoption.tenant_rights import binding_actors, cluster_wide, listed_roles

RBAC = "/apis/rbac.authorization.k8s.io/v1"
ARGUMENT_SPEC = {
    "nodes": {"type": "list", "elements": "str", "required": True},
    "infra_namespaces": {"type": "list", "elements": "str", "required": True},
    "job_namespaces": {"type": "list", "elements": "str", "required": True},
    "kubeconfig": {"type": "path", "required": True},
    "evict": {"type": "bool", "default": False},
    "accepted": {"type": "list", "elements": "str", "default": []},
    "tenant_roles": {"type": "list", "elements": "str", "default": []},
    "variables": {"type": "dict", "default": {}},
    "adopt": {"type": "bool", "default": False},
    "timeout_s": {"type": "float", "default": 600},
}


class ActionModule(ActionBase):
    """Refuses conflicts with the gate, then closes the nodes."""

    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return steps and diff, or `faults`."""
        result = super().run(tmp, task_vars)
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        try:
            ask = connect(args["kubeconfig"])
            spaces = args["infra_namespaces"], args["job_namespaces"]
            cluster = KubeCluster(ask, args["nodes"], *spaces, args["timeout_s"])
            result |= adopt(cluster, args, bool(self._task.check_mode))
        except DeviceError as err:
            result |= {"failed": True, "changed": False, "msg": str(err), **err.details}
        return result


def adopt(cluster: KubeCluster, args: dict[str, Any], check: bool) -> dict[str, Any]:
    """Read, then refuse or converge. Raises DeviceError."""
    daemons = cluster.items("/apis/apps/v1/daemonsets")
    want = ClusterUse({name: NodeUse(True) for name in args["nodes"]})
    have = cluster.read()
    found = [*faults(have), *refusals(plan(have, want), args), *_conflicts(cluster, daemons, args)]
    if found:
        sentence = "the cluster is not ready for the gate:\n" + "\n".join(found)
        return {"failed": True, "changed": False, "msg": sentence, "faults": found}
    if not args["adopt"]:
        bindings, roles = (cluster.items(f"{RBAC}/{kind}") for kind in ("clusterrolebindings", "clusterroles"))
        own = (GATE_NAMESPACE, NODES_NAMESPACE, INSTALLER_NAMESPACE)
        warnings = cluster_wide(bindings, roles, [*args["infra_namespaces"], *own])
        return {"changed": False, "steps": [], "pending": [], "warnings": warnings}
    outcome = converge(cluster, plan, want, check=check, options=args)
    unscheduled = intolerant(daemons, args["infra_namespaces"])
    return {
        **outcome.result(),
        "failed": bool(outcome.error),
        "intolerant": unscheduled,
        "warnings": [*unscheduled, *outcome.pending],
    }


def _conflicts(cluster: KubeCluster, daemons: list[Json], args: dict[str, Any]) -> list[str]:
    """Conflicting actors that `accepted` does not name, with the line that accepts them."""
    accepted, spaces = args["accepted"], args["job_namespaces"]
    bindings, roles = (
        [item for space in spaces for item in cluster.items(f"{RBAC}/namespaces/{space}/{kind}")]
        for kind in ("rolebindings", "roles")
    )
    resources = [item for path in RESOURCES for item in cluster.items(path)]
    actors = [
        *workload_actors([*daemons, *cluster.items("/apis/apps/v1/deployments")]),
        *setting_actors(resources),
        *node_actors(cluster.found),
        *binding_actors(bindings, roles, args["tenant_roles"]),
        *listed_roles(cluster.items(f"{RBAC}/clusterroles"), args["tenant_roles"]),
    ]
    return [
        f"{actor.sentence}, or set {variable(args, 'accepted')}: {[*accepted, actor.name]}"
        for actor in actors
        if actor.name not in accepted
    ]
