# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Do what no epilog did: after a failed PrologSlurmctld Slurm runs none on the nodes, and it repeats none that failed.

Runs from a timer. No answer from Slurm or from the API server means: change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from . import identity, log, slurm
from .api import Api, Unreachable
from .closer import close_job, close_node
from .config import Job, Refused
from .opener import PODS
from .states import LABEL, Owner, owner, place

EMPTY_S = 5.0  # the next run looks again


def mend_node(node: str, api: Api, pod_grace_s: int) -> bool:
    """Close this node if its job is over and nothing of it is left. False if something is in the way.

    The node is looked at before Slurm is asked: a job that holds it by then is one that Slurm already knows.
    """
    found = api.get(f"/api/v1/nodes/{node}")
    dead = owner(place(found.body)[1]) if found.ok else None
    if not dead:
        return found.ok
    alive = slurm.jobs_on(node)
    if alive is None or dead.job in alive:
        return True
    try:
        close_node(_job(dead, node, api), node, api, EMPTY_S, pod_grace_s)
    except (Refused, Unreachable) as err:
        log.event("not mended", node=node, cause=str(err))
        return False
    slurm.resume(node)
    return True


def mend_cluster(namespaces: Iterable[str], api: Api) -> bool:
    """End jobs that are over but still have an identity. False if something is in the way.

    The identities are looked at before Slurm is asked: a job that has one by then is one that Slurm already knows.
    """
    left = [(space, name) for space in namespaces for name in _accounts(api, space)]
    alive = slurm.jobs_running() if left else None
    if alive is None:
        return True
    done = True
    for namespace, name in left:
        dead = Owner(namespace, int(name.split("-")[1]))
        if dead.job not in alive:
            try:
                close_job(Job(dead, *identity.ids(name), _held(dead, api)), api)
            except (Refused, Unreachable) as err:
                log.event("not mended", namespace=namespace, job=dead.job, cause=str(err))
                done = False
    return done


def _accounts(api: Api, namespace: str) -> list[str]:
    """Names of the job identities in a namespace."""
    found = api.get(identity.path(namespace, "serviceaccounts"))
    names = [account["metadata"]["name"] for account in found.body.get("items", [])]
    return [name for name in names if identity.NAME.fullmatch(name)]


def _held(dead: Owner, api: Api) -> tuple[str, ...]:
    """Nodes that the job still holds."""
    nodes = api.get("/api/v1/nodes", labelSelector=f"{LABEL}={dead.job}")
    if not nodes.ok:
        raise Refused(f"can't list nodes: {nodes.message}")
    return tuple(node["metadata"]["name"] for node in nodes.body["items"])


def _job(dead: Owner, node: str, api: Api) -> Job:
    """The job as its leftovers tell; its user is known by them alone. Without any, nothing has to be known."""
    names = []
    accounts = api.get(identity.path(dead.namespace, "serviceaccounts"))
    pods = api.get(PODS.format(dead.namespace))
    for answer in (accounts, pods):
        if not answer.ok:
            raise Refused(f"can't look for leftovers in namespace {dead.namespace}: {answer.message}")
    names += [account["metadata"]["name"] for account in accounts.body["items"]]
    names += [pod["spec"].get("serviceAccountName", "") for pod in pods.body["items"]]
    left = [name for name in names if name.startswith(dead.prefix)]
    uid, gid = identity.ids(left[0]) if left else (0, 0)
    return Job(dead, uid, gid, (node,))
