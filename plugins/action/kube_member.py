# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Make a host a member of the cluster, or none: what needs the kubeconfig is done here, the rest on the host."""

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
from ..module_utils.drawbridge.core.consent import VARIABLES_ARGUMENT, variable
from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.core.names import CLOSED, TAINT
from ..module_utils.drawbridge.kube.kubelet.check import born_open
from ..module_utils.drawbridge.kube.kubelet.keys import KEYS, NUMA, strangers
from ..module_utils.drawbridge.kube.member.admission_io import Approver, token
from ..module_utils.drawbridge.kube.member.csr import Applicant
from ..module_utils.drawbridge.kube.member.plan import DELETES, JOINS

MODULE = "drawbridge.drawbridge.kube_member_host"
ARGUMENT_SPEC = {
    "name": {"type": "str", "required": True},
    "address": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "join": {"type": "bool", "default": True},
    "api_server": {"type": "str", "required": True},
    "ca_file": {"type": "path", "required": True},
    "config": {"type": "dict", "default": {}},
    "flags": {"type": "list", "elements": "str", "default": []},
    "program": {"type": "path", "default": "/usr/bin/kubelet"},
    "certificate": {"type": "path", "default": "/var/lib/kubelet/pki/kubelet-client-current.pem"},
    "timeout_s": {"type": "int", "default": 90},
    "kubeconfig": {"type": "path", "required": True},
    "version": {"type": "str", "default": ""},
    **VARIABLES_ARGUMENT,
}
OWN = ("kubeconfig", "version")
CONFLICT, TRIES = 409, 10
OWN_KEYS = KEYS - NUMA


class ActionModule(ActionBase):
    """Looks first; most runs end there."""

    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the host's result: of the look, or of what was done."""
        result = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(ARGUMENT_SPEC)
        joins = args["join"] and args["state"] == "present"
        where = variable(args, "config")
        wrong = [*strangers(args["config"], where, OWN_KEYS, variable(args, "numa_config"))]
        wrong += born_open(args["config"], where) if joins else []
        if found := [str(fault) for fault in wrong]:
            msg = "\n".join(["the kubelet's configuration is refused:", *found])
            return {**result, "failed": True, "changed": False, "msg": msg, "faults": found}
        try:
            if joins:
                refuse_name(args["address"], variable(args, "address"))
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
        """Let the host's half do its work, and approve what its kubelet asks for meanwhile."""
        name, host = args["name"], args["host"]
        refuse_newer(ask, args["version"])
        with contextlib.ExitStack() as stack:
            joins = any(step.startswith(JOINS) for step in looked["steps"])
            made = stack.enter_context(token(ask, name)) if joins else None
            approver = Approver(ask, Applicant(name, args["address"], made.id if made else ""))
            stack.enter_context(approver.at_work())
            given = {"token": made.text} if made else {}
            done = self._execute_module(MODULE, {**host, **given}, task_vars=task_vars)
        if done.get("failed"):
            left = [f"signing request {csr} was not approved: {why}" for csr, why in approver.refused.items()]
            trouble = [approver.trouble] if approver.trouble else []
            done["msg"] = "; ".join([str(done.get("msg", "")), *left, *trouble])
        return done

    def _leave(self, ask: Ask, host: dict[str, Any], looked: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        """Delete the Node as it was seen closed; then nobody can get a pod there, and the host forgets."""
        gone = DELETES in looked["steps"]
        if gone:
            delete(ask, host["name"])
        done = self._execute_module(MODULE, host, task_vars=task_vars)
        if gone:
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


def refuse_name(address: str, where: str) -> None:
    """The kubelet is told its address, and its serving certificate is for it. Raises DeviceError."""
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
    theirs = (int(server["major"]), int(re.sub(r"\D", "", server["minor"])))
    if tuple(map(int, found.groups())) > theirs:
        shown = f"{theirs[0]}.{theirs[1]}"
        raise DeviceError(
            f"drawbridge_kube.packages has kubelet {version}, but the API server is {shown}, and a kubelet may not be "
            f"newer; pin kubelet {shown}"
        )


def delete(ask: Ask, name: str) -> None:
    """Delete a Node that is closed now; one that somebody opens meanwhile stays. Raises DeviceError.

    Whatever is written to it between look and deletion, such as its status, is a reason for another look.
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
            raise DeviceError(f"Node {name} is not closed, and stays: {why}")
        seen = {key: node["metadata"][key] for key in ("uid", "resourceVersion")}
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": seen}
        status, answer = ask("DELETE", path, options)
        if status < 300 or status == 404:
            return
        if status != CONFLICT:
            break
    raise DeviceError(f"Node {name} was not deleted: {answer.get('message', status)}")
