# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A member's files: the kubelet's main configuration, the unit's drop-in, and the bootstrap kubeconfig."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...core.file_entry import Entry
from ..kubelet.text import render

UNIT = "kubelet.service"
HEADER = "# Written by Drawbridge's role kube_node, which overwrites changes."
KUBECONFIG = "/etc/kubernetes/kubelet.conf"
BOOTSTRAP = "/etc/kubernetes/bootstrap-kubelet.conf"
MAIN_CONFIG = "/var/lib/kubelet/config.yaml"
DROP_IN = "/etc/systemd/system/kubelet.service.d/50-drawbridge.conf"
CONFIG_DIR = "/etc/kubernetes/kubelet.conf.d"
CLIENT_SIGNER, SERVING_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"
OWN_TOKEN = re.compile(r"[a-z0-9]{6}\.[a-z0-9]{16}")


def files(params: Mapping[str, Any]) -> dict[str, Entry]:
    """The kubelet's files and directories by path: the API server's CA, main configuration, the unit's drop-in."""
    main = "".join(f"{line}\n" for line in render(params["config"], HEADER))
    unit = drop_in(params["program"], params["name"], params["address"], params["flags"])
    texts = {params["ca_file"]: params["ca"], MAIN_CONFIG: main, DROP_IN: unit}
    # a kubelet exits if its --config-dir does not exist
    return {CONFIG_DIR: Entry(None, "0755"), **{path: Entry(text) for path, text in texts.items()}}


def drop_in(program: str, name: str, address: str, extra: Sequence[str]) -> str:
    """The unit's drop-in, which starts the kubelet. The token is only in a file, never on the command line."""
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
    """A kubeconfig that is valid for one certificate request."""
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
