# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The template of a pod that takes one whole node of the job, as the gate's policies require. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ..gate.config import Refused
from ..gate.gate_names import EFFECT, JOB_LABEL, LABEL, PREFIX, TAINT
from . import project
from .allocation import Allocation
from .options import Options
from .site import Grant, Site

Json = dict[str, Any]

RUN_LABEL = f"{PREFIX}/run"
"""On the pods of one workload, whatever kind of controller makes them."""
PULL = {"missing": "IfNotPresent", "always": "Always", "never": "Never"}
NCCL_FILE = "NCCL_TOPO_FILE"
NCCL_SOCKETS, GLOO_SOCKETS = "NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"
FIRST_PORT, PORTS = 20000, 10000
START = """\
umask "$DRAWBRIDGE_UMASK"
cd "$DRAWBRIDGE_WORKDIR" || exit 125
ulimit -S -l "$(ulimit -H -l)" 2>/dev/null

NODE_RANK=0 NNODES=0
for node in $DRAWBRIDGE_NODES; do
  [ "$node" = "$DRAWBRIDGE_NODE" ] && NODE_RANK=$NNODES
  NNODES=$((NNODES + 1))
done

export NODE_RANK NNODES MASTER_ADDR="$DRAWBRIDGE_MASTER" MASTER_PORT="$DRAWBRIDGE_PORT"
export PET_NODE_RANK="$NODE_RANK" PET_NNODES="$NNODES" PET_NPROC_PER_NODE="$DRAWBRIDGE_PROCESSES"
export PET_MASTER_ADDR="$MASTER_ADDR" PET_MASTER_PORT="$MASTER_PORT"
exec "$@"
"""
"""A pod's rank is its node's position among the job's nodes, for all kinds of workloads: a controller's own index would
not follow the nodes. The script changes the directory as the user; the runtime would enter it as root.
"""


@dataclass(frozen=True)
class User:
    """The calling user, with directory and environment."""

    uid: int
    gid: int
    name: str
    home: str
    cwd: str
    umask: int
    env: Mapping[str, str]


@dataclass(frozen=True)
class Request:
    """All input of a workload."""

    mark: str
    """Distinguishes this call from others of its job, whose pods may still be ending."""
    allocation: Allocation
    grant: Grant
    site: Site
    options: Options
    user: User
    nccl: Mapping[str, str]
    master: str
    """Address of the first node."""

    @property
    def name(self) -> str:
        """Name of all objects of this call, and of no other call."""
        return f"{self.allocation.prefix}{self.options.name}-{self.mark}"

    @property
    def processes(self) -> int:
        """Processes of a node, for launchers such as torchrun."""
        return self.allocation.tasks_per_node or max(int(self.grant.gpus), 1)

    @property
    def port(self) -> int:
        """The port of rank 0. Jobs do not share nodes, so any port is free."""
        return FIRST_PORT + self.allocation.job % PORTS

    @property
    def labels(self) -> dict[str, str]:
        """Labels of the workload and its pods."""
        return {JOB_LABEL: str(self.allocation.job), RUN_LABEL: self.name}


def template(request: Request, container: str = "main") -> Json:
    """The pods' template; the kind of workload prescribes the name `container`."""
    account, (uid, gid) = request.grant.account, request.grant.ids
    mounts, limits = chosen_mounts(request), request.site.images.get(request.grant.namespace, {})
    project.require_image(request.options.image, limits.get("allow", ()), limits.get("digests_only", False))
    pod = {
        "hostNetwork": True,
        "dnsPolicy": "ClusterFirstWithHostNet",
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": request.options.grace_s,
        "serviceAccountName": account,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsUser": uid,
            "runAsGroup": gid,
            "supplementalGroupsPolicy": "Strict",
            **({"supplementalGroups": list(request.grant.groups)} if request.grant.groups else {}),
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "nodeSelector": {LABEL: str(request.allocation.job)},
        "tolerations": [{"key": TAINT, "value": request.grant.toleration, "effect": EFFECT}],
        "volumes": [
            {"name": "shm", "emptyDir": {"medium": "Memory"}},
            *(
                {"name": f"fs{index}", "hostPath": {"path": path, "type": "Directory"}}
                for index, path in enumerate(mounts)
            ),
            *project.volumes(chosen_claims(request)),
        ],
        "containers": [_container(request, container, mounts)],
    }
    return {"metadata": {"labels": request.labels}, "spec": pod}


def _container(request: Request, name: str, mounts: Mapping[str, bool]) -> Json:
    grant, options = request.grant, request.options
    gpus = grant.resources or ({request.site.gpu_resource: grant.gpus} if grant.gpus != "0" else {})
    resources = {**gpus, "cpu": grant.cpus, "memory": grant.memory, **request.site.devices}
    return {
        "name": name,
        "image": options.image,
        "imagePullPolicy": PULL[options.pull],
        "command": [literal(word) for word in ("/bin/sh", "-c", START, "drawbridge-run", *options.command)],
        "workingDir": "/",
        "env": environment(request),
        "resources": {"requests": resources, "limits": resources},
        "securityContext": {"allowPrivilegeEscalation": False},
        "volumeMounts": [
            {"name": "shm", "mountPath": "/dev/shm"},
            *(
                {"name": f"fs{index}", "mountPath": path, **({"readOnly": True} if read_only else {})}
                for index, (path, read_only) in enumerate(mounts.items())
            ),
            *project.mounts(chosen_claims(request)),
        ],
    }


def chosen_claims(request: Request) -> dict[str, bool]:
    """Mounted claims, and whether each is read-only. Raises Refused."""
    known, space = request.site.claims, request.grant.namespace
    return project.chosen_claims(request.options.claims, known.get(space, {}), request.site.classes.get(space, ()))


def places(request: Request) -> dict[str, bool]:
    """Where pods have volumes, and whether each is read-only. Raises Refused."""
    return {**chosen_mounts(request), **{project.place(name): it for name, it in chosen_claims(request).items()}}


def chosen_mounts(request: Request) -> dict[str, bool]:
    """Mounted file systems, and whether each is read-only. Raises Refused."""
    wanted, seen = {}, request.site.mounts.get(request.grant.namespace, [])
    for text in request.options.mounts or seen:
        path, _sep, mode = text.partition(":")
        if path not in seen or mode not in ("", "ro", "rw"):
            known = ", ".join(seen) or "none"
            raise Refused(f"--mount {text}: it is PATH or PATH:ro of a file system of the account, which are: {known}")
        wanted[path] = mode == "ro"
    return dict(_outermost(wanted))


def _outermost(mounts: Mapping[str, bool]) -> Iterator[tuple[str, bool]]:
    """Those that lie in no other one, with which the others come. Raises Refused if a mode would get lost."""
    for path, read_only in mounts.items():
        outer = [other for other in mounts if PurePosixPath(other) in PurePosixPath(path).parents]
        if any(mounts[other] != read_only for other in outer):
            raise Refused(f"{path} lies in {outer[0]} and comes with it: give both the same mode, or leave one out")
        if not outer:
            yield path, read_only


def workdir(request: Request) -> str:
    """Directory in which the command starts. Raises Refused if it is not mounted in pods."""
    place = request.options.workdir or request.user.cwd
    if request.options.workdir or visible(place, places(request)):
        return place
    known = ", ".join(places(request)) or "no file system"
    raise Refused(f"the pods see {known}, but not {place}: change to a directory there, or name one with --workdir")


def visible(path: str, mounts: Mapping[str, bool]) -> bool:
    """Whether a path is on one of the file systems."""
    return any(PurePosixPath(mount) in (PurePosixPath(path), *PurePosixPath(path).parents) for mount in mounts)


def environment(request: Request) -> list[Json]:
    """The container's variables. The user's own override those of job and site."""
    nodes, user = request.allocation.nodes, request.user
    mounts = places(request)
    home = user.home if visible(user.home, mounts) else workdir(request)
    # the container has a file of its host only below a mount
    nccl = {key: value for key, value in request.nccl.items() if key != NCCL_FILE or visible(value, mounts)}
    values = {
        "HOME": home,
        "USER": user.name,
        "LOGNAME": user.name,
        **request.allocation.variables,
        **_gloo(nccl),
        **nccl,
        "DRAWBRIDGE_NODES": " ".join(nodes),
        "DRAWBRIDGE_MASTER": request.master,
        "DRAWBRIDGE_PORT": str(request.port),
        "DRAWBRIDGE_PROCESSES": str(request.processes),
        "DRAWBRIDGE_UMASK": f"{user.umask:04o}",
        "DRAWBRIDGE_WORKDIR": workdir(request),
    }
    values.update(own_variables(request))
    secret = [_secret(text) for text in request.options.secrets]
    node = {"name": "DRAWBRIDGE_NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    return [*({"name": key, "value": literal(value)} for key, value in values.items()), *secret, node]


def _gloo(nccl: Mapping[str, str]) -> dict[str, str]:
    """Gloo's network devices: NCCL's, if the site names them in full.

    By itself Gloo takes the device of the host's own name, which may be loopback.
    """
    devices = nccl.get(NCCL_SOCKETS, "")
    return {GLOO_SOCKETS: devices[1:]} if devices.startswith("=") else {}


def literal(text: str) -> str:
    """Escape $: Kubernetes replaces $$ and $(NAME) in commands and in values of variables."""
    return text.replace("$", "$$")


def own_variables(request: Request) -> dict[str, str]:
    """Variables of --env; a name alone takes the caller's value. Raises Refused."""
    found = {}
    for text in request.options.env:
        name, given, value = text.partition("=")
        if not given and name not in request.user.env:
            raise Refused(f"--env {name}: it is not set here; set it, or write --env {name}=VALUE")
        found[name] = value if given else request.user.env[name]
    return found


def _secret(text: str) -> Json:
    name, _sep, place = text.partition("=")
    secret, _sep, key = place.partition("/")
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}
