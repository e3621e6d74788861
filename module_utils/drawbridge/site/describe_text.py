# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a host's slurm.conf and kubelet say of the clusters that it belongs to. Pure."""

from __future__ import annotations

import re
from typing import Any, Callable

from ..slurm.takeover.text import Line, lines, settings, with_defaults

_KUBELET = {
    "topologyManagerPolicy": "topology_policy",
    "reservedSystemCPUs": "reserved_cpus",
    "clientCAFile": "ca_file",
}
_SERVER = re.compile(r"^ *server: *[\"']?(https://[A-Za-z0-9.:\[\]-]+)[\"']? *$", re.MULTILINE)
"""The intent takes no address with a path."""


def slurm_conf(text: str, included: Callable[[str], str] = lambda _: "") -> dict[str, Any]:
    """Cluster, hosts of daemons and partitions. Nothing else leaves the host, because a file may have secrets.

    `included` returns the text of a file by the name after Include.
    """
    found = lines(text, included)
    known = settings(found)
    hosts = known.get("slurmctldhost", [("", "")])
    return {
        "cluster": known.get("clustername", [("", "")])[-1][1],
        "controller": hosts[0][1].split("(")[0],
        "accounting": known.get("accountingstoragehost", [("", "")])[-1][1],
        "partitions": [_partition(line) for line in with_defaults(found, "partitionname")],
    }


def _partition(line: Line) -> dict[str, Any]:
    values = {key: value for key, (_spelled, value) in line.values().items()}
    return {"name": line.name, "nodes": values.get("nodes", ""), "default": values.get("default", "").lower() == "yes"}


def kubelet(text: str) -> dict[str, str]:
    """Keys of a kubelet's configuration that the intent has too."""
    pairs = re.findall(r"^ *(\w+): *[\"']?([^\"'\n]*?)[\"']? *$", text, re.MULTILINE)
    return {_KUBELET[key]: value for key, value in pairs if key in _KUBELET}


def api_server(text: str) -> str:
    """The address in a kubeconfig, "" for none. Nothing else leaves the host, because the file has a key."""
    match = _SERVER.search(text)
    return match[1] if match else ""
