# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Projects in Kubernetes: annotations of their namespaces, volumes and claims, and what an administrator allows once.

A volume is the project's directory on the node. It belongs to one claim, and deleting either leaves the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..core.names import (
    CLAIMS,
    DIGESTS_ONLY,
    GATE_NAMESPACE,
    GATED,
    HOST_PATHS,
    IMAGES,
    PROJECT,
    PROJECTS,
    READ_ONLY_CLAIMS,
    STATIC_CLASS,
    STORAGE_CLASSES,
)
from ..projects.accounts import live, namespace
from ..projects.model import ARCHIVED, OPEN, REMOVED, Claim, Images, OwnClaims, Project, Projects
from ..slurm.accounting.model import NO_MOUNTS
from ..slurm.model import Slurm

NO_LIMIT = "1Ti"
"""Capacity of a volume without a quota: Kubernetes wants a number, and a directory of a node has none."""
REQUEST = "1Gi"
"""What each claim requests. Kubernetes changes no request of such a claim, but a quota may grow and shrink."""
OF_CLASS = "storageclass.storage.k8s.io"
"""Of a quota's limit that counts claims of one storage class."""

Json = dict[str, Any]


def of_namespaces(slurm: Slurm, projects: Projects | None) -> dict[str, Project]:
    """The project of each namespace that is a project's."""
    spaces = {account.name: account.namespace for account in slurm.accounts if account.namespace}
    return {spaces[it.name]: it for it in (live(projects) if projects else ()) if it.name in spaces}


def claims(project: Project) -> tuple[Claim, ...]:
    """Claims that pods of a project may mount: its own, and one of each data set. None once it is closed."""
    if project.state != OPEN:
        return ()
    return (*project.claims, *(Claim(name, read_only=True) for name in project.data))


def own_claims(project: Project) -> tuple[OwnClaims, ...]:
    """Storage classes in which people of a project make claims. None once it is closed."""
    return project.storage_classes if project.state == OPEN else ()


def claim_limits(project: Project) -> dict[str, str]:
    """Limits of a quota: the project's claims, and those that people make in each storage class."""
    own = own_claims(project)
    found = {"persistentvolumeclaims": str(len(claims(project)) + sum(it.claims for it in own))}
    for it in own:
        found[f"{it.name}.{OF_CLASS}/persistentvolumeclaims"] = str(it.claims)
        found[f"{it.name}.{OF_CLASS}/requests.storage"] = f"{it.size_gib}Gi"
    return found


def images(project: Project, projects: Projects) -> Images | None:
    """What images pods of a project may have; None for any."""
    return project.images or projects.images


def metadata(project: Project, projects: Projects, mounts: Iterable[str]) -> Json:
    """Labels and annotations of a project's namespace."""
    found, allowed = claims(project), images(project, projects)
    given = {
        HOST_PATHS: ",".join(it for it in mounts if (it,) != NO_MOUNTS),
        CLAIMS: ",".join(it.name for it in found),
        READ_ONLY_CLAIMS: ",".join(it.name for it in found if it.read_only),
    }
    if project.storage_classes:
        given[STORAGE_CLASSES] = ",".join(it.name for it in own_claims(project))
    if allowed:
        given |= {IMAGES: ",".join(allowed.allow), DIGESTS_ONLY: str(allowed.digests_only).lower()}
    return {"labels": {GATED: "true", PROJECT: project.name}, "annotations": given}


def ended(slurm: Slurm, projects: Projects) -> list[Json]:
    """Namespaces of projects without an account: C(namespace), C(project), and whether it is C(removed)."""
    taken = of_namespaces(slurm, projects)
    gone = [it for it in projects.projects if it.state in (ARCHIVED, REMOVED) and namespace(it) not in taken]
    return [{"namespace": namespace(it), "project": it.name, "removed": it.state == REMOVED} for it in gone]


def volumes(slurm: Slurm, projects: Projects | None) -> list[Json]:
    """PersistentVolumes and their claims, each claim behind its volume."""
    return [
        item
        for space, project in of_namespaces(slurm, projects).items()
        for claim in claims(project)
        if projects
        for item in _pair(space, project, claim, projects)
    ]


def _pair(space: str, project: Project, claim: Claim, projects: Projects) -> Iterator[Json]:
    path, size = _place(project, claim, projects)
    name, labels = volume_name(space, claim.name), {PROJECT: project.name}
    modes = ["ReadOnlyMany" if claim.read_only else "ReadWriteMany"]
    common = {"accessModes": modes, "storageClassName": STATIC_CLASS, "volumeMode": "Filesystem"}
    yield {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            **common,
            "capacity": {"storage": size},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": space,
                "name": claim.name,
            },
            "hostPath": {"path": path, "type": "Directory"},
            "persistentVolumeReclaimPolicy": "Retain",
        },
    }
    yield {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": claim.name, "namespace": space, "labels": labels},
        "spec": {**common, "resources": {"requests": {"storage": REQUEST}}, "volumeName": name},
    }


def volume_name(space: str, claim: str) -> str:
    """The name of a claim's volume. Neither part has a dot, so no two claims have one name."""
    return f"drawbridge-{space}.{claim}"


def _place(project: Project, claim: Claim, projects: Projects) -> tuple[str, str]:
    """Directory and capacity of a volume."""
    data = {it.name: it.path for it in projects.data}
    if claim.name in project.data:
        return data[claim.name], NO_LIMIT
    quota = project.directory.quota_gib if project.directory else 0
    return projects.folder_of(project), f"{quota}Gi" if quota else NO_LIMIT


def allowed(slurm: Slurm, projects: Projects, classes: Sequence[str] = ()) -> Json:
    """What an administrator lets runs give to namespaces of projects: the parameter of two policies.

    A new project changes it only with a word that no project had: another file system, folder, namespace or image. The
    end of a project changes it only when its entry leaves the intent.
    C(roots): folders whose entries are directories of projects. C(mounts): further folders that pods may mount.
    C(namespaces): those of accounts that are no projects. C(data.NAME): directories of data sets.
    C(directory.NAME), C(namespace.NAME): places of single projects. C(images), C(digests-only): limits of all.
    C(storage-classes): C(classes), those of drivers that the site has.
    """
    spaces = of_namespaces(slurm, projects)
    every = list(projects.projects) if any(part.gate for part in slurm.partitions) else []
    others = [it.namespace for it in slurm.accounts if it.namespace and it.namespace not in spaces]
    data = {
        "mounts": _joined(mount for it in every for mount in it.mounts if (mount,) != NO_MOUNTS),
        "namespaces": _joined(others),
        "roots": _joined(_roots(projects, every)),
        **{f"data.{it.name}": it.path for it in projects.data},
        **{f"directory.{it.name}": projects.folder_of(it) for it in every if it.directory and it.directory.folder},
        **{f"namespace.{it.name}": namespace(it) for it in every if namespace(it) != it.name.replace("_", "-")},
        **_limits(projects, every),
        **({"storage-classes": _joined(classes)} if classes else {}),
    }
    about = {"name": PROJECTS, "namespace": GATE_NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": data}


def _roots(projects: Projects, every: Iterable[Project]) -> Iterator[str]:
    mounts = [projects.filesystem, *(projects.filesystem_of(it) for it in every if it.directory)]
    yield from (f"{mount}/{projects.folder}" for mount in mounts if mount)


def _limits(projects: Projects, every: Iterable[Project]) -> dict[str, str]:
    """Where images of all projects are limited, no run can widen that; a project may have less of them."""
    if not projects.images:
        return {}
    found = [projects.images, *(it.images for it in every if it.images)]
    digests = {"digests-only": "true"} if all(it.digests_only for it in found) else {}
    return {
        "images": _joined(prefix for it in found for prefix in it.allow if _apart(prefix, projects.images)),
        **digests,
    }


def _apart(prefix: str, of_all: Images) -> bool:
    """Whether a prefix is one of all projects, or lies in none of these."""
    return prefix in of_all.allow or not any(prefix.startswith(f"{it}/") for it in of_all.allow)


def _joined(words: Iterable[str]) -> str:
    return ",".join(sorted(set(words)))
