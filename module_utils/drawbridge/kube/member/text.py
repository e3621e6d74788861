# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node as a member of its cluster: what its kubelet is started with, and how it stands."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.daemon.plan import DaemonState
from ...core.file_entry import Entry
from ..kubelet.text import render

UNIT = "kubelet.service"
HEADER = "# Written by Drawbridge's role kube_node, which undoes what is changed here by hand."
KUBECONFIG = "/etc/kubernetes/kubelet.conf"
BOOTSTRAP = "/etc/kubernetes/bootstrap-kubelet.conf"
MAIN_CONFIG = "/var/lib/kubelet/config.yaml"
DROP_IN = "/etc/systemd/system/kubelet.service.d/50-drawbridge.conf"
CONFIG_DIR = "/etc/kubernetes/kubelet.conf.d"
OWN_TOKEN = re.compile(r"[a-z0-9]{6}\.[a-z0-9]{16}")


@dataclass(frozen=True)
class MemberState:
    """A node's kubelet with its files, and the node in the cluster."""

    daemon: DaemonState
    member: bool
    """The API server takes the kubelet for this node, and has a Node of its name."""
    serving: bool
    """Who asks the kubelet for logs can verify its certificate, and will be able to for weeks."""
    why: str = field(default="", compare=False)
    """What is wrong with its membership."""
    busy: str = field(default="", compare=False)
    """Why the node can't leave now."""

    def lines(self) -> list[str]:
        """The daemon, then the membership."""
        certificate = "verified" if self.serving else "not verified"
        return [*self.daemon.lines(), f"{'member' if self.member else 'no member'}, serving certificate {certificate}"]


NO_MEMBER = MemberState(DaemonState(UNIT, {}, enabled=False, active=False), False, False)
"""A host whose kubelet is off and has nothing of ours."""


def files(params: Mapping[str, Any]) -> dict[str, Entry]:
    """The kubelet's files and directories, by path: whom it believes, its main configuration, and how it is started."""
    main = "".join(f"{line}\n" for line in render(params["config"], HEADER))
    started = drop_in(params["program"], params["name"], params["address"], params["flags"])
    texts = {params["ca_file"]: params["ca"], MAIN_CONFIG: main, DROP_IN: started}
    # a kubelet that is told of a directory of drop-ins ends if there is none
    return {CONFIG_DIR: Entry(None, "0755"), **{path: Entry(text) for path, text in texts.items()}}


def findings(state: MemberState, params: Mapping[str, Any]) -> list[str]:
    """What is wrong with a membership that the site has made, each with its repair."""
    name, found = params["name"], []
    if not state.daemon.active:
        found.append(f"{UNIT} of {name} does not run; start it: systemctl start {UNIT}")
    if not state.daemon.enabled:
        found.append(f"{UNIT} of {name} does not start at boot; enable it: systemctl enable {UNIT}")
    if not state.member:
        cause = f"{name} is no member of the cluster ({state.why})"
        found.append(f"{cause}; join it, set kube_node_certificate, or drawbridge_kube.join: drawbridge")
    elif state.daemon.active and not state.serving:
        found.append(
            f"{name}: {state.why}; set serverTLSBootstrap: true in its kubelet and approve its signing request"
        )
    return found


def drop_in(program: str, name: str, address: str, extra: Sequence[str]) -> str:
    """The unit's drop-in: how the kubelet is started. Tokens stand in files alone."""
    flags = [
        f"--config={MAIN_CONFIG}",
        f"--config-dir={CONFIG_DIR}",
        f"--kubeconfig={KUBECONFIG}",
        f"--bootstrap-kubeconfig={BOOTSTRAP}",
        f"--hostname-override={name}",
        f"--node-ip={address}",
        *extra,
    ]
    command = " \\\n    ".join([f"ExecStart={program}", *flags])
    return (
        f"{HEADER}\n[Unit]\nWants=containerd.service\nAfter=containerd.service network-online.target\n"
        f"[Service]\nEnvironment=\nEnvironmentFile=\nExecStart=\n{command}\nRestart=always\nRestartSec=2\n"
    )


def bootstrap(server: str, ca: str, token: str) -> str:
    """A kubeconfig that is good for one request of a certificate."""
    if not OWN_TOKEN.fullmatch(token):
        raise ValueError("a bootstrap token is six and sixteen characters, with a dot between them")
    encoded = base64.b64encode(ca.encode()).decode()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "cluster", "cluster": {"server": server, "certificate-authority-data": encoded}}],
        "users": [{"name": "bootstrap", "user": {"token": token}}],
        "contexts": [{"name": "bootstrap", "context": {"cluster": "cluster", "user": "bootstrap"}}],
        "current-context": "bootstrap",
    }
    return json.dumps(config) + "\n"
