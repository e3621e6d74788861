# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the directories, quotas, claims and data sets of projects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from ..core.faults import MISSING, Fault
from ..core.rules import doubled
from ..kube.model import Kube
from ..storage.kinds import CLASS_KEYS, shared, storage_classes, with_filesets
from .model import Directory, Project, Projects
from .rules import KEY, place

OF_FILESETS = ("pool", "quota_gib", "inodes")


def directories_are_on_shared_file_systems(projects: Projects, filesystems: Mapping[str, Any]) -> Iterator[Fault]:
    """A directory is on a file system that all nodes mount. Filesets alone have quotas and pools."""
    mounts = with_filesets(filesystems)
    for index, project in enumerate(projects.projects):
        if own := project.directory:
            mount = projects.filesystem_of(project)
            if mount not in mounts:
                key = f"{place(index)}.directory.filesystem" if own.filesystem else f"{KEY}.filesystem"
                reason = "no shared file system is mounted there"
                yield Fault(
                    key, mount or MISSING, reason, f"use one of {', '.join(mounts)}" if mounts else "declare one"
                )
            elif not mounts[mount]:
                yield from _without_filesets(f"{place(index)}.directory", own, mount, projects.host)


def _without_filesets(key: str, own: Directory, mount: str, host: str) -> Iterator[Fault]:
    for name in OF_FILESETS:
        if value := getattr(own, name):
            reason = f"{mount} has no filesets, and Drawbridge sets quotas and pools of filesets alone"
            yield Fault(f"{key}.{name}", value, reason, f"take {name} out, and let the server limit the directory")
    if not host:
        reason = f"{mount} has no filesets, so a host that mounts it as root must make the directories"
        yield Fault(f"{KEY}.host", MISSING, reason, f"name a host of the inventory that mounts {mount}")


def directories_are_apart(projects: Projects) -> Iterator[Fault]:
    """Directories of two projects are neither one nor inside each other, and no data set is inside of one."""
    taken: dict[str, str] = {}
    for project in projects.projects:
        if folder := projects.folder_of(project):
            taken.setdefault(folder, project.name)
    for index, project in enumerate(projects.projects):
        folder = projects.folder_of(project)
        if folder and (other := _around(folder, project.name, taken)):
            reason = f"{other} is the directory of {taken[other]}" + (
                "" if other == folder else f", and has {folder} in it"
            )
            yield Fault(f"{place(index)}.directory.folder", folder, reason, "use a folder outside of it")
    for index, data in enumerate(projects.data):
        if other := _around(data.path, "", taken):
            reason = f"it is in the directory of {taken[other]}, whose people could replace it by a link"
            yield Fault(f"{KEY}.data[{index}].path", data.path, reason, "use a folder that root alone can change")


def _around(folder: str, name: str, taken: Mapping[str, str]) -> str:
    """The directory of another project that is this folder or has it inside; "" for none."""
    places = (folder, *map(str, PurePosixPath(folder).parents))
    return next((it for it in places if taken.get(it, name) != name), "")


def quotas_fit(projects: Projects, filesystems: Mapping[str, Any]) -> Iterator[Fault]:
    """Quotas promise no more than a file system has."""
    mounts = [each.mount for each in shared(filesystems)]
    for index, room in enumerate(projects.capacity):
        key = f"{KEY}.capacity[{index}]"
        if room.filesystem not in mounts:
            reason = "no shared file system is mounted there"
            yield Fault(f"{key}.filesystem", room.filesystem, reason, f"use one of {', '.join(mounts)}")
        quotas = {
            at: own.quota_gib
            for at, project in enumerate(projects.projects)
            if (own := project.directory) and projects.filesystem_of(project) == room.filesystem
        }
        for at, quota in quotas.items():
            if quota > room.gib:
                reason = f"{room.filesystem} has {room.gib} GiB"
                yield Fault(f"{place(at)}.directory.quota_gib", quota, reason, f"lower it to {room.gib}")
        total, most = sum(quotas.values()), room.gib * room.quota_percent // 100
        if total > most and max(quotas.values()) <= room.gib:
            reason = f"all quotas of {room.filesystem} together are {total} GiB, of {most} that they may promise"
            percent = -(-100 * total // room.gib)
            repair = f"lower quotas, or set quota_percent: {percent}"
            yield Fault(f"{key}.quota_percent", room.quota_percent, reason, repair)
    yield from doubled(f"{KEY}.capacity", [room.filesystem for room in projects.capacity], "list each once")


def pods_need_kubernetes(projects: Projects, kube: Kube | None) -> Iterator[Fault]:
    """Claims, data sets and images are those of pods."""
    for index, project in enumerate(projects.projects if kube is None else ()):
        for key in ("claims", "storage_classes", "data", "images"):
            if value := getattr(project, key):
                reason = "it is for pods, and drawbridge_kube is not defined"
                shown = value if isinstance(value, tuple) and all(isinstance(it, str) for it in value) else MISSING
                yield Fault(f"{place(index)}.{key}", shown, reason, f"define drawbridge_kube, or take {key} out")


def claims_have_a_directory(projects: Projects) -> Iterator[Fault]:
    """A claim is on the project's directory. A data set has a claim of its name, too."""
    shared_names = {data.name for data in projects.data}
    for at, project in enumerate(projects.projects):
        for number, claim in enumerate(project.claims):
            key = f"{place(at)}.claims[{number}]"
            if not project.directory:
                reason = "the project has no directory"
                yield Fault(key, claim.name, reason, f"set {place(at)}.directory, or take the claim out")
            if claim.name in shared_names:
                reason = "a data set has that name, and admission tells data sets by it"
                yield Fault(f"{key}.name", claim.name, reason, "give the claim another name")
        names = [claim.name for claim in project.claims]
        yield from doubled(f"{place(at)}.claims", names, "give every claim a name of its own")


def storage_classes_exist(projects: Projects, filesystems: Mapping[str, Any]) -> Iterator[Fault]:
    """A claim of a class that no driver serves stays Pending."""
    known = storage_classes(filesystems)
    for at, project in enumerate(projects.projects):
        names = [it.name for it in project.storage_classes]
        for number, name in enumerate(names):
            if name not in known:
                key = f"{place(at)}.storage_classes[{number}].name"
                reason = f"{' and '.join(CLASS_KEYS)} does not declare it"
                repair = "declare it there" + (f", or use one of {', '.join(known)}" if known else "")
                yield Fault(key, name, reason, repair)
        yield from doubled(f"{place(at)}.storage_classes", names, "name every storage class once")


def data_sets_exist(projects: Projects, filesystems: Mapping[str, Any]) -> Iterator[Fault]:
    """Data sets are declared once, on file systems of the nodes."""
    mounts = [each.mount for each in shared(filesystems)]
    known = [data.name for data in projects.data]
    yield from doubled(f"{KEY}.data", known, "give every data set a name of its own")
    for index, data in enumerate(projects.data):
        if not any(data.path.startswith(f"{mount}/") for mount in mounts):
            reason = "it is in no shared file system"
            yield Fault(f"{KEY}.data[{index}].path", data.path, reason, f"use a folder of {', '.join(mounts) or 'one'}")
    for index, project in enumerate(projects.projects):
        for name in _unknown(project, known):
            repair = f"declare it in {KEY}.data" + (f", or use some of {', '.join(known)}" if known else "")
            yield Fault(f"{place(index)}.data", name, f"{KEY}.data does not declare it", repair)


def _unknown(project: Project, known: list[str]) -> list[str]:
    return [name for name in project.data if name not in known]


RULES = (
    directories_are_on_shared_file_systems,
    directories_are_apart,
    quotas_fit,
    pods_need_kubernetes,
    claims_have_a_directory,
    storage_classes_exist,
    data_sets_exist,
)
