# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller's side of a host's membership: tokens, approvals of certificates, and the deletion of a Node."""

from __future__ import annotations

import base64
import contextlib
import ipaddress
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import MappingProxyType

import yaml

from ..module_utils.drawbridge.core.api.kubeconfig import Ask, connect, file_of
from ..module_utils.drawbridge.core.consent import variable
from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.core.names import CLOSED, TAINT
from ..module_utils.drawbridge.kube.kubelet.check import born_open
from ..module_utils.drawbridge.kube.kubelet.keys import KEYS, NUMA, foreign_keys
from ..module_utils.drawbridge.kube.member.admission_io import Approver, token
from ..module_utils.drawbridge.kube.member.csr import Applicant
from ..module_utils.drawbridge.kube.member.plan import DELETES, JOINS
from ..module_utils.drawbridge.kube.options import MEMBER
from .controller_side import Options, Refused, Result

OWN = {"kubeconfig": {"type": "path", "required": True}, "version": {"type": "str", "default": ""}}
CONFLICT, TRIES = 409, 10
OWN_KEYS = KEYS - NUMA


class KubeMember:
    """Join a host to the cluster, or remove it."""

    module = "kube_member_host"
    spec: Options = MappingProxyType({**MEMBER, **OWN})
    viewed: Sequence[str] = ("join", "version")

    def prepare(self, options: Options) -> Result:
        """Refuse what a kubelet would refuse, and add the CA of the API server. Raises DeviceError."""
        joins = options["join"] and options["state"] == "present"
        where = variable(options, "config")
        wrong = [*foreign_keys(options["config"], where, OWN_KEYS, variable(options, "numa_config"))]
        wrong += born_open(options["config"], where) if joins else []
        if found := [str(fault) for fault in wrong]:
            raise Refused("\n".join(["the kubelet's configuration is refused:", *found]), faults=found)
        if joins:
            refuse_host_name(options["address"], variable(options, "address"))
        host = {key: value for key, value in options.items() if key not in OWN}
        return {**host, "ca": authority(file_of(options["kubeconfig"])) if options["join"] else ""}

    def predicts(self, options: Options) -> bool:
        """A member that the site has joined is only checked."""
        return bool(options["join"] or options["state"] == "absent")

    @contextlib.contextmanager
    def provide(self, options: Options, predicted: Result) -> Iterator[Result]:
        """Approve the kubelet's signing requests meanwhile; or delete the closed Node before its host is cleaned."""
        ask = connect(options["kubeconfig"])
        if options["state"] == "absent":
            if DELETES in predicted["steps"]:
                delete(ask, options["name"])
            yield {}
            return
        refuse_newer(ask, options["version"])
        with contextlib.ExitStack() as stack:
            joins = any(step.startswith(JOINS) for step in predicted["steps"])
            made = stack.enter_context(token(ask, options["name"])) if joins else ""
            self._approver = Approver(ask, Applicant(options["name"], options["address"], made.partition(".")[0]))
            stack.enter_context(self._approver.running())
            yield {"token": made} if made else {}

    def conclude(self, options: Options, predicted: Result, done: Result) -> Result:
        """Add why a request was not approved to an error, and the deletion of the Node to the steps."""
        if options["state"] == "absent":
            if DELETES not in predicted["steps"]:
                return done
            return {**done, "changed": True, "steps": predicted["steps"], "diff": predicted["diff"]}
        if not done.get("failed"):
            return done
        left = [f"signing request {csr} was not approved: {why}" for csr, why in self._approver.refused.items()]
        errors = [self._approver.error] if self._approver.error else []
        return {**done, "msg": "; ".join([str(done.get("msg", "")), *left, *errors])}


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
    for _attempt in range(TRIES):
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
