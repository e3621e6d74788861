# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""File systems of another cluster: keys and grants at their owner, clusters and file systems at whoever mounts them.

Each cluster has a state of its own. A mount looks into the owner's: the key that this cluster has of it, this cluster's
key there, and the grant.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...common import DRIFT, shared_directory
from .model import Cluster, Failed
from .states import public_key

if TYPE_CHECKING:
    from collections.abc import Iterable

FS_TITLE = (
    "Local Name  Remote Name  Cluster name              Mount Point        Mount Options    Automount  Drive  Priority"
)


def digest(text: str) -> str:
    """Return the digest of a public key."""
    return hashlib.sha256(text.encode()).hexdigest()


def own_digest(state: dict[str, Any]) -> str:
    """Return the digest of a cluster's committed key."""
    return digest(public_key(state, state["key"]["committed"]))


def mmauth(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Show and change which clusters may mount file systems of this one."""
    verb, *names = rest or [""]
    if verb == "show":
        print(*_shown(cluster, names[0] if names else "all"), sep="\n")
        return
    cluster.require_admin()
    if verb not in VERBS or len(names) != 1:
        raise Failed("Missing arguments.", f"Usage: mmauth {{show | {' | '.join(VERBS)}}} ...")
    VERBS[verb](cluster, names[0], given)
    print("mmauth: Command successfully completed")


def _shown(cluster: Cluster, wanted: str) -> Iterable[str]:
    own, auth = cluster.state["name"], cluster.state["auth"]
    if wanted not in ("all", ".", own, *auth):
        raise Failed(f"The cluster {wanted} is not authorized to access this cluster.")
    for name in [name for name in auth if wanted in ("all", name)]:
        access = [f"{device:<9} ({it['access']}, {it['root']})" for device, it in auth[name]["grants"].items()]
        first, *others = access or ["(none authorized)"]
        yield from (f"Cluster name:        {name}", f"Cipher list:         {auth[name]['cipher']}")
        yield from (f"SHA digest:          {auth[name]['digest']}", f"File system access:  {first}")
        yield from (f"                     {line}" for line in others)
        yield ""
    if wanted in ("all", ".", own):
        yield from (f"Cluster name:        {own} (this cluster)", "Cipher list:         AUTHONLY")
        yield from (f"SHA digest:          {own_digest(cluster.state)}", "File system access:  (all rw)", "")


def _key(given: dict[str, str]) -> str:
    path = Path(given.get("-k", ""))
    if not given.get("-k") or not path.is_file():
        raise Failed(f"The key file {path} does not exist.")
    return digest(path.read_text())


def _genkey(cluster: Cluster, what: str, given: dict[str, str]) -> None:
    key = cluster.state["key"]
    key["generation"] += what == "new"
    key["committed"] = key["generation"] if what == "commit" else key["committed"]


def _add(cluster: Cluster, name: str, given: dict[str, str]) -> None:
    if name in cluster.state["auth"]:
        raise Failed(f"The cluster {name} is already defined.")
    cluster.state["auth"][name] = {"digest": _key(given), "cipher": given.get("-l", "AUTHONLY"), "grants": {}}
    if cluster.effect == DRIFT:
        cluster.state["auth"][name]["digest"] = digest("another key")


def _update(cluster: Cluster, name: str, given: dict[str, str]) -> None:
    entry = _known(cluster, name)
    entry.update(digest=_key(given) if "-k" in given else entry["digest"], cipher=given.get("-l", entry["cipher"]))


def _delete(cluster: Cluster, name: str, given: dict[str, str]) -> None:
    _known(cluster, name)
    del cluster.state["auth"][name]


def _grant(cluster: Cluster, name: str, given: dict[str, str]) -> None:
    entry, device = _known(cluster, name), given.get("-f", "")
    if device != "all" and device not in cluster.state["filesystems"]:
        raise Failed(f"File system {device} is not known to the GPFS cluster.")
    root = given.get("-r", "no")
    for one in cluster.state["filesystems"] if device == "all" else [device]:
        squash = "root allowed" if root == "no" else f"root remapped to {root}"
        entry["grants"][one] = {"access": given.get("-a", "rw"), "root": squash}
    if cluster.effect == DRIFT:
        entry["grants"].popitem()


def _deny(cluster: Cluster, name: str, given: dict[str, str]) -> None:
    entry, device = _known(cluster, name), given.get("-f", "")
    for one in list(entry["grants"]) if device == "all" else [device]:
        entry["grants"].pop(one, None)


VERBS = {"add": _add, "update": _update, "delete": _delete, "grant": _grant, "deny": _deny, "genkey": _genkey}


def _known(cluster: Cluster, name: str) -> dict[str, Any]:
    if name not in cluster.state["auth"]:
        raise Failed(f"The cluster {name} is not authorized to access this cluster.")
    return cluster.state["auth"][name]


def mmremotecluster(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Show and change the clusters whose file systems this one mounts."""
    verb, *names = rest or [""]
    known = cluster.state["remote_clusters"]
    name = names[0] if names else "all"
    if verb == "show":
        if name not in ("all", *known):
            raise Failed(f"The remote cluster {name} is not defined.")
        print(*_clusters(cluster, [it for it in known if name in ("all", it)]), sep="\n")
        return
    cluster.require_admin()
    if verb == "add" and name in known:
        raise Failed(f"The remote cluster {name} is already defined.")
    if verb in ("update", "delete") and name not in known:
        raise Failed(f"The remote cluster {name} is not defined.")
    if verb == "delete":
        if any(it["cluster"] == name for it in cluster.state["remote_filesystems"].values()):
            raise Failed(f"The remote cluster {name} still has remote file systems.")
        del known[name]
    else:
        old = known.get(name, {"contacts": "", "digest": ""})
        key = _key(given) if "-k" in given else old["digest"]
        known[name] = {"contacts": given.get("-n", old["contacts"]), "digest": key}
        if cluster.effect == DRIFT:
            known[name]["contacts"] = "elsewhere"
    print("mmremotecluster: Command successfully completed")


def _clusters(cluster: Cluster, names: list[str]) -> Iterable[str]:
    if not names:
        yield "mmremotecluster: There are no remote clusters defined."
    for name in names:
        entry = cluster.state["remote_clusters"][name]
        mounted = [
            f"{local} ({it['remote']})"
            for local, it in cluster.state["remote_filesystems"].items()
            if it["cluster"] == name
        ]
        yield from (f"Cluster name:    {name}", f"Contact nodes:   {entry['contacts']}")
        yield from (f"SHA digest:      {entry['digest']}", f"File systems:    {', '.join(mounted)}", "")


def mmremotefs(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Show and change the file systems of other clusters that this one mounts."""
    verb, *names = rest or [""]
    known = cluster.state["remote_filesystems"]
    name = names[0].removeprefix("/dev/") if names else "all"
    if verb == "show":
        if name not in ("all", *known):
            raise Failed(f"The remote file system {name} is not defined.")
        shown = {it: known[it] for it in known if name in ("all", it)}
        print(*(_table(shown) if shown else ["mmremotefs: There are no remote file systems defined."]), sep="\n")
        return
    cluster.require_admin()
    _change_filesystem(cluster, verb, name, given)
    print("mmremotefs: Command successfully completed")


def _change_filesystem(cluster: Cluster, verb: str, name: str, given: dict[str, str]) -> None:
    known = cluster.state["remote_filesystems"]
    if verb == "add":
        if name in known or name in cluster.state["filesystems"]:
            raise Failed(f"The file system {name} is already defined.")
        if given.get("-C") not in cluster.state["remote_clusters"]:
            raise Failed(f"The remote cluster {given.get('-C')} is not defined.")
        defaults = {"mount": f"/gpfs/{name}", "automount": "no", "options": "rw"}
        known[name] = {**defaults, "remote": given["-f"].removeprefix("/dev/"), "cluster": given["-C"]}
        cluster.state["mounts"].setdefault(name, {})
    elif name not in known:
        raise Failed(f"The remote file system {name} is not defined.")
    if verb == "delete":
        if cluster.state["mounts"].get(name):
            raise Failed(f"The file system {name} is still mounted.")
        del known[name]
        return
    keys = {"-T": "mount", "-A": "automount", "-o": "options", "-f": "remote"}
    known[name].update({keys[flag]: value.removeprefix("/dev/") for flag, value in given.items() if flag in keys})
    if cluster.effect == DRIFT:
        known[name]["mount"] = "/elsewhere"


def _table(known: dict[str, dict[str, str]]) -> Iterable[str]:
    yield FS_TITLE
    for local, it in known.items():
        names = f"{local:<11} {it['remote']:<12} {it['cluster']:<25} {it['mount']:<18}"
        yield f"{names} {it['options']:<16} {it['automount']:<10}   -        0"


def owner_of(cluster: Cluster, device: str) -> tuple[dict[str, Any], str, str]:
    """Return the owner's state, the remote device and the granted access. Raises Failed as a mount of it does."""
    remote = cluster.state["remote_filesystems"][device]
    here = cluster.state["remote_clusters"].get(remote["cluster"], {"contacts": "", "digest": ""})
    contacts = [name.partition(":")[0] for name in here["contacts"].split(",") if not name.startswith("tcpPort=")]
    owner = next((it for it in _others() if it["name"] == remote["cluster"]), None)
    reached = owner and any(name in owner["nodes"] and name not in cluster.state["unreachable"] for name in contacts)
    if not owner or not reached:
        raise Failed(f"The remote cluster {remote['cluster']} could not be contacted.", "Connection timed out")
    there = owner["auth"].get(cluster.state["name"], {"digest": "", "grants": {}})
    if (here["digest"], there["digest"]) != (own_digest(owner), own_digest(cluster.state)):
        raise Failed(f"Authorization of cluster {remote['cluster']} failed: Permission denied")
    grant = there["grants"].get(remote["remote"])
    if not grant or grant["access"] == "none":
        raise Failed(f"Remote cluster mount of {device} was rejected: Permission denied")
    if owner["filesystems"][remote["remote"]]["block_size"] > _bytes(cluster.setting("maxblocksize", cluster.me)):
        raise Failed(f"File system {device} has a block size larger than maxblocksize.")
    return owner, remote["remote"], grant["access"]


def _others() -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in shared_directory().glob("gpfs*/state.json")]


def _bytes(size: str) -> int:
    return int((size or "4M")[:-1]) << {"K": 10, "M": 20}[(size or "4M")[-1].upper()]
