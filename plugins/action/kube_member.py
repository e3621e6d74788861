# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Join a host to the cluster, or remove it. Steps that need the kubeconfig run here, the others on the host."""

from __future__ import annotations

import base64
import contextlib
import ipaddress
import re
from pathlib import Path
from typing import Any

import yaml
from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.api.kubeconfig import Ask, connect
from ..module_utils.drawbridge.core.consent import variable
from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.core.names import CLOSED, TAINT
from ..module_utils.drawbridge.kube.kubelet.check import born_open
from ..module_utils.drawbridge.kube.kubelet.keys import KEYS, NUMA, foreign_keys
from ..module_utils.drawbridge.kube.member.admission_io import Approver, token
from ..module_utils.drawbridge.kube.member.csr import Applicant
from ..module_utils.drawbridge.kube.member.plan import DELETES, JOINS
from ..module_utils.drawbridge.kube.options import MEMBER

MODULE = "drawbridge.drawbridge.kube_member_host"
OWN = {"kubeconfig": {"type": "path", "required": True}, "version": {"type": "str", "default": ""}}
ARGUMENT_SPEC = {**MEMBER, **OWN}
CONFLICT, TRIES = 409, 10
OWN_KEYS = KEYS - NUMA


class ActionModule(ActionBase):
    """Predicts on the host first; most runs end there."""

    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the host's result: the prediction, or the steps done."""
        result = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(ARGUMENT_SPEC)
        joins = args["join"] and args["state"] == "present"
        where = variable(args, "config")
        wrong = [*foreign_keys(args["config"], where, OWN_KEYS, variable(args, "numa_config"))]
        wrong += born_open(args["config"], where) if joins else []
        if found := [str(fault) for fault in wrong]:
            msg = "\n".join(["the kubelet's configuration is refused:", *found])
            return {**result, "failed": True, "changed": False, "msg": msg, "faults": found}
        try:
            if joins:
                refuse_host_name(args["address"], variable(args, "address"))
            host = {key: value for key, value in args.items() if key not in OWN}
            host["ca"] = authority(Path(args["kubeconfig"]).expanduser()) if args["join"] else ""
            looked = self._execute_module(MODULE, {**host, "look": True}, task_vars=task_vars)
            if self._task.check_mode or looked.get("failed") or not looked.get("changed"):
                return looked
            ask = connect(args["kubeconfig"])
            if args["state"] == "absent":
                return self._leave(ask, host, looked, task_vars)
            return self._join(ask, {**args, "host": host}, looked, task_vars)
        except DeviceError as err:
            return {**result, "failed": True, "changed": False, "msg": str(err)}

    def _join(self, ask: Ask, args: dict[str, Any], looked: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        """Run the host's module, and approve its kubelet's signing requests meanwhile."""
        name, host = args["name"], args["host"]
        refuse_newer(ask, args["version"])
        with contextlib.ExitStack() as stack:
            joins = any(step.startswith(JOINS) for step in looked["steps"])
            made = stack.enter_context(token(ask, name)) if joins else ""
            approver = Approver(ask, Applicant(name, args["address"], made.partition(".")[0]))
            stack.enter_context(approver.running())
            given = {"token": made} if made else {}
            done = self._execute_module(MODULE, {**host, **given}, task_vars=task_vars)
        if done.get("failed"):
            left = [f"signing request {csr} was not approved: {why}" for csr, why in approver.refused.items()]
            errors = [approver.error] if approver.error else []
            done["msg"] = "; ".join([str(done.get("msg", "")), *left, *errors])
        return done

    def _leave(self, ask: Ask, host: dict[str, Any], looked: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        """Delete the closed Node, so that no pod can be bound to it; then clean the host."""
        deletes = DELETES in looked["steps"]
        if deletes:
            delete(ask, host["name"])
        done = self._execute_module(MODULE, host, task_vars=task_vars)
        if deletes:
            done = {**done, "changed": True, "steps": looked["steps"], "diff": looked["diff"]}
        return done


def authority(kubeconfig: Path) -> str:
    """The CA certificates of the API server, as the kubeconfig's current context has them. Raises DeviceError."""
    try:
        content = yaml.safe_load(kubeconfig.read_text())
        context = next(it["context"] for it in content["contexts"] if it["name"] == content["current-context"])
        cluster = next(it["cluster"] for it in content["clusters"] if it["name"] == context["cluster"])
        if data := cluster.get("certificate-authority-data"):
            return base64.b64decode(data).decode()
        return (kubeconfig.parent / cluster["certificate-authority"]).read_text()
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, StopIteration) as err:
        what = f"{type(err).__name__}: {err}"
        raise DeviceError(f"kubeconfig {str(kubeconfig)!r} names no CA certificate of its cluster ({what})") from err


def refuse_host_name(address: str, where: str) -> None:
    """The kubelet's serving certificate is for an IP address. Raises DeviceError."""
    try:
        ipaddress.ip_address(address)
    except ValueError as err:
        raise DeviceError(
            f"{where} is {address!r}, but the kubelet's certificate is for an IP address;"
            f" set {where} in the inventory, or ansible_host to the address"
        ) from err


def refuse_newer(ask: Ask, version: str) -> None:
    """A kubelet may be older than its API server, never newer. Raises DeviceError."""
    status, server = ask("GET", "/version", None)
    found = re.match(r"(?:\d+:)?v?(\d+)\.(\d+)", version)
    if status >= 300 or not found:
        return
    newest = (int(server["major"]), int(re.sub(r"\D", "", server["minor"])))
    if tuple(map(int, found.groups())) > newest:
        shown = f"{newest[0]}.{newest[1]}"
        raise DeviceError(
            f"drawbridge_kube.packages has kubelet {version}, but the API server is {shown}, and a kubelet may not be "
            f"newer; pin kubelet {shown}"
        )


def delete(ask: Ask, name: str) -> None:
    """Delete a Node that is closed; a Node that is opened meanwhile stays. Raises DeviceError.

    Any write to the Node between read and deletion, such as its status, is a conflict. Then it is read again.
    """
    path, status, answer = f"/api/v1/nodes/{name}", CONFLICT, {}
    for _ in range(TRIES):
        status, node = ask("GET", path, None)
        if status == 404:
            return
        taints = (node.get("spec") or {}).get("taints") or []
        closed = any(it["key"] == TAINT and it.get("value") == CLOSED for it in taints)
        if status >= 300 or not closed:
            why = node.get("message", "run this again when it is")
            raise DeviceError(f"Node {name} is not closed and was not deleted: {why}")
        seen = {key: node["metadata"][key] for key in ("uid", "resourceVersion")}
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": seen}
        status, answer = ask("DELETE", path, options)
        if status < 300 or status == 404:
            return
        if status != CONFLICT:
            break
    raise DeviceError(f"Node {name} was not deleted: {answer.get('message', status)}")
