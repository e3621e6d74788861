# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a host's slurm.conf and kubelet say of the clusters that it belongs to. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable
from urllib.parse import urlsplit

from ..core import hostlist
from ..core.loopback import is_loopback
from ..core.yaml_text import document
from ..kube.kubelet.text import flag
from ..slurm.language.lines import Line, lines, settings, with_defaults
from ..slurm.language.nodes import Members

ALL = "ALL"
"""All nodes of the intent: slurm.conf lists none."""
_YES = frozenset({"yes", "up", "true", "1"})
_KEYS = {
    "topology_policy": (("topologyManagerPolicy",), "--topology-manager-policy"),
    "reserved_cpus": (("reservedSystemCPUs",), "--reserved-cpus"),
    "client_ca": (("authentication", "x509", "clientCAFile"), "--client-ca-file"),
}
"""Facts of a kubelet: the key of its configuration, and the flag that wins over it."""
_SERVER = re.compile(r"https://[A-Za-z0-9.:\[\]-]+")
"""The intent takes no address with a path."""


def slurm_conf(text: str, included: Callable[[str], str] = lambda _: "") -> dict[str, Any]:
    """Cluster, hosts of daemons, partitions and types of GPUs. Nothing else leaves the host: a file may have secrets.

    `included` returns the text of a file by the name after Include.
    """
    found = lines(text, included)
    known = {key: values[-1][1] for key, values in settings(found).items()}
    hosts = settings(found).get("slurmctldhost") or [("", known.get("controlmachine", ""))]
    partitions = with_defaults(found, "partitionname")
    default = [line.name for line in partitions if line.values().get("default", ("", ""))[1].lower() in _YES][-1:]
    members, nodes = Members(found), with_defaults(found, "nodename")
    cloud = [line.name for line in nodes if line.values().get("state", ("", ""))[1].upper().startswith("CLOUD")]
    return {
        # as Slurm itself writes it
        "cluster": known.get("clustername", "").lower(),
        "controller": hosts[0][1].split("(")[0].split(",")[0],
        "accounting": known.get("accountingstoragehost", ""),
        "partitions": [
            {"name": line.name, "nodes": _nodes(line, members), "default": [line.name] == default}
            for line in partitions
        ],
        "gpu_types": _gpu_types(nodes),
        "cloud": ",".join(cloud),
    }


def _gpu_types(found: Iterable[Line]) -> list[dict[str, str]]:
    """Types of GPUs by their nodes. Nodes whose GPUs have no type, or several, are left out."""
    types: dict[str, list[str]] = {}
    for line in found:
        entries = [entry.split("(")[0].split(":") for entry in line.values().get("gres", ("", ""))[1].split(",")]
        kinds = {parts[1] for parts in entries if parts[0] == "gpu" and parts[1:] and not parts[1].isdigit()}
        if len(kinds) == 1:
            types.setdefault(kinds.pop(), []).append(line.name)
    return [{"nodes": ",".join(names), "type": kind} for kind, names in types.items()]


def _nodes(line: Line, members: Members) -> str:
    """A hostlist of a partition's nodes, with sets of nodes resolved; empty for a partition without any."""
    written = line.values().get("nodes", ("", ""))[1]
    if "{" in written:  # functions of Slurm's topology
        return written
    names = members.of(written)
    return hostlist.in_order(names) if names else ALL if written.upper() == ALL else ""


def kubelet(text: str, drop_ins: Iterable[str] = (), command: Sequence[str] = ()) -> dict[str, str]:
    """Keys of a kubelet's configuration that the intent has too, as the kubelet itself puts them together.

    `drop_ins` are the texts of its drop-ins in their order, `command` is its command line. Raises ValueError.
    """
    config: Any = {}
    for part in (text, *drop_ins):
        config = _merged(config, document(part))
    flags = {key: flag(command, name) for key, (_path, name) in _KEYS.items()}
    values = {key: flags[key] or _at(config, path) for key, (path, _name) in _KEYS.items()}
    return {key: value for key, value in values.items() if value}


def _merged(config: Any, patch: Any) -> Any:
    """A JSON merge patch: mappings are merged, all else is replaced."""
    if not (isinstance(config, Mapping) and isinstance(patch, Mapping)):
        return patch
    return {**config, **{key: _merged(config.get(key), value) for key, value in patch.items()}}


def _at(config: Any, path: Iterable[str]) -> str:
    for key in path:
        config = config.get(key, "") if isinstance(config, Mapping) else ""
    return config if isinstance(config, str) else ""


def cluster(text: str) -> dict[str, str]:
    """What a kubeconfig says of its cluster: server, certificate-authority and certificate-authority-data.

    Nothing else leaves the host, because the file may have a key. Raises ValueError.
    """
    found = document(text)
    clusters, contexts = (_named(found, kind) for kind in ("cluster", "context"))
    name = contexts.get(_at(found, ("current-context",)), {}).get("cluster", "")
    one = clusters.get(name) or (next(iter(clusters.values())) if len(clusters) == 1 else {})
    keys = ("server", "certificate-authority", "certificate-authority-data")
    return {key: one[key] for key in keys if isinstance(one.get(key), str)}


def _named(found: Any, kind: str) -> dict[str, Mapping[str, Any]]:
    listed = found.get(f"{kind}s") if isinstance(found, Mapping) else ()
    entries = [entry for entry in listed or () if isinstance(entry, Mapping) and isinstance(entry.get(kind), Mapping)]
    return {str(entry.get("name", "")): entry[kind] for entry in entries}


def api_server(text: str) -> str:
    """The address in a kubeconfig; "" for none, and for one that only this host reaches. Raises ValueError."""
    server = cluster(text).get("server", "")
    return "" if is_loopback(host_of(server)) else taken(server)


def host_of(server: str) -> str:
    """Name or address of the host in a URL."""
    try:
        return urlsplit(server).hostname or ""
    except ValueError:
        return ""


def taken(server: str) -> str:
    """The address, if the intent takes it: it has no path."""
    bare = server.rstrip("/")
    return bare if host_of(bare) and _SERVER.fullmatch(bare) else ""
