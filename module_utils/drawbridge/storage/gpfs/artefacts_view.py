# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Commands of the modules for Storage Scale, from the arguments of their tasks."""

from __future__ import annotations

import shlex
from typing import Any

from ...core import hostlist
from ...core.artefact import Artefact, Json
from ..owned import CLOSED, Owned
from .filesets.model import comment_of
from .members import plan as gpfs
from .policies import text as policies
from .policies.plan import SYSTEM
from .quotas.plan import Pair, Quota
from .remote.text import ROOT

MM_OPTIONS = {gpfs.LICENSE: " client --accept"}


def mm_software(packages: Any, compilers: Any, headers: str) -> Artefact:
    """Packages that a node lacks; none if the site installs them."""
    versions = [f"install {name}{'=' if version else ''}{version}" for name, version in packages.items()]
    tools = [f"install {name}" for name in (*compilers, f"{headers}KERNEL")] if compilers else []
    return Artefact([*versions, *tools, *(["mmbuildgpl"] if compilers else [])] or ["nothing: the site installs GPFS"])


def mm_node(nodes: Any, cluster: str) -> Artefact:
    """The commands for nodes that are in no cluster yet."""
    want = gpfs.Membership(dict.fromkeys(nodes[:1], gpfs.Member("client")))
    verbs = [step.payload.verb for step in gpfs.plan(gpfs.Membership({}), want)]
    lines = [f"{verb}{MM_OPTIONS.get(verb, '')} -N {hostlist.in_order(nodes)}" for verb in verbs if verb]
    return Artefact([f"cluster {cluster or 'of this host'}", *lines])


def mm_config(classes: Any) -> Artefact:
    """The commands for classes that do not exist yet."""
    lines = []
    for it in classes:
        settings = ",".join(f"{name}={value}" for name, value in it["settings"].items())
        lines.append(f"mmcrnodeclass {it['name']} -N {hostlist.in_order(it['nodes'])}")
        lines += [f"mmchconfig {shlex.quote(settings)} -N {it['name']}"] if settings else []
    return Artefact(lines)


def mm_auth(client: str, client_fingerprint: str, grants: Any, root_becomes: str) -> Artefact:
    """The owner's commands for a cluster that it does not know yet."""
    squash = "no" if root_becomes == ROOT else root_becomes
    given = [f"mmauth grant {client} -f {it['device']} -a {it['access']} -r {squash}" for it in grants]
    return Artefact([f"mmauth add {client} -k FILE # with the digest {client_fingerprint}", *given])


def mm_remote(owner: str, owner_fingerprint: str, contacts: Any, filesystems: Any) -> Artefact:
    """The commands for an owner that is not defined yet."""
    defined = [
        f"mmremotefs add {it['device']} -f {it['owner_device']} -C {owner} -T {it['mount']} -A no -o {it['access']}"
        for it in filesystems
    ]
    line = f"mmremotecluster add {owner} -n {','.join(contacts)} -k FILE # with the digest {owner_fingerprint}"
    return Artefact([line, *defined])


def mm_mount(filesystems: Any) -> Artefact:
    """Start, and mounts of existing file systems."""
    return Artefact(["mmstartup", *(f"mmmount {it['device']} # at {it['mount']}" for it in filesystems)])


def mm_fileset(device: str, filesets: Any) -> Artefact:
    """The commands for filesets that do not exist yet, and for those that leave."""
    lines = []
    for it in filesets:
        name = it["name"]
        if it["state"] == "linked":
            limit = f" --inode-limit {it['inode_limit']}:{it['inode_prealloc']}" if it["inode_limit"] else ""
            comment = shlex.quote(comment_of(name, it["comment"]))
            top = CLOSED if it["closed"] else Owned(it["owner"], it["group"], it["mode"])
            lines.append(f"mmcrfileset {device} {name} -t {comment} --inode-space new{limit.removesuffix(':0')}")
            lines.append(f"mmlinkfileset {device} {name} -J {it['junction']} # for {top}")
        else:
            lines.append(f"mmunlinkfileset {device} {name}")
            lines += [f"mmdelfileset {device} {name} -f"] if it["state"] == "absent" else []
    return Artefact(lines)


def mm_quota(device: str, filesets: Any) -> Artefact:
    """The commands for filesets without limits."""
    quotas = {it["name"]: Quota(Pair.both(it["block_kib"]), Pair.both(it["inodes"])) for it in filesets}
    return Artefact([f"mmsetquota {device}:{name} {' '.join(it.arguments())}" for name, it in quotas.items()])


def mm_policy(device: str, filesets: Any, default_pool: str) -> Artefact:
    """The rules in a file system that has no policy."""
    rules = policies.block({it["name"]: it["pool"] for it in filesets}, "", default_pool or SYSTEM)
    return Artefact([f"mmchpolicy {device} FILE # with these lines", *rules.splitlines()] if filesets else [])


def gpfs_csi(state: str, source: str, objects: Any, resource: Json) -> Artefact:
    """IBM's manifest, and the objects of the driver. The Secret of each cluster is the run's alone."""
    if state == "absent":
        return Artefact(["nothing: the intent has no driver; what an earlier run made is deleted"])
    secrets = [f"Secret {it['secrets']}-a or -b: user and password of a GUI" for it in resource["spec"]["clusters"]]
    return Artefact([f"IBM's manifest {source}", *secrets], objects=[*objects, resource])


ARTEFACTS = (mm_software, mm_node, mm_config, mm_auth, mm_remote, mm_mount, mm_fileset, mm_quota, mm_policy, gpfs_csi)
