# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's accounts, QOS and partitions of projects: an expansion of drawbridge_projects into drawbridge_slurm.

Accounts of projects follow those of the intent, in the order of the projects.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..slurm.accounting.model import NO_MOUNTS, NORMAL, Absent, Account, Qos
from ..slurm.model import Partition, Slurm
from ..slurm.rules import namespace_of
from .model import CLOSED, OPEN, Project, Projects

NO_DECAY = "NoDecay"
DENY = "DenyAccounts"
"""Slurm ignores it in a partition that has AllowAccounts."""
REFUSES = {"EnforcePartLimits": "ANY"}
"""Without it Slurm accepts jobs of accounts that none of their partitions lets in, and plans nodes for them."""


def live(projects: Projects) -> list[Project]:
    """Projects that have an account: those that are open or closed."""
    return [it for it in projects.projects if it.state in (OPEN, CLOSED)]


def own_qos(project: Project) -> str:
    """The name of the QOS that has a project's budget; "" without a budget."""
    return f"project-{project.name}" if project.budget else ""


def namespace(project: Project) -> str:
    """The namespace of a project's pods."""
    return project.namespace or namespace_of(project.name)


def project_accounts(slurm: Slurm, projects: Projects) -> Slurm:
    """Slurm with an account for each project, a QOS for each budget, and partitions closed to other projects."""
    own, gated = live(projects), any(part.gate for part in slurm.partitions)
    if not projects.projects:
        return slurm
    gone = [it for it in projects.projects if it.state not in (OPEN, CLOSED)]
    absent = Absent(
        (*slurm.absent.accounts, *(it.name for it in gone)),
        (*slurm.absent.qos, *(own_qos(it) for it in gone if it.budget)),
    )
    return replace(
        slurm,
        accounts=(*slurm.accounts, *(_account(it, projects, gated) for it in own)),
        qos=(*(_preempting(it, own) for it in slurm.qos), *(_budget(it, slurm) for it in own if it.budget)),
        partitions=tuple(_closed_to_others(part, projects.projects, own) for part in slurm.partitions),
        absent=absent,
        settings={**REFUSES, **slurm.settings},
    )


def _account(project: Project, projects: Projects, gated: bool) -> Account:
    place = projects.folder_of(project)
    return Account(
        name=project.name,
        namespace=namespace(project) if gated else "",
        mounts=(*project.mounts, *([place] if place else [])) or NO_MOUNTS,
        users=project.users,
        groups=project.groups,
        parent=project.parent,
        fair_share=project.fair_share,
        qos=(own_qos(project),) if project.budget else project.qos,
        default_qos=own_qos(project),
        total=project.total,
        per_job=project.per_job,
        jobs=project.jobs,
        submits=project.submits,
        max_time=project.max_time,
        ends=project.ends,
        closed=project.state == CLOSED,
    )


def like(project: Project) -> str:
    """The QOS whose settings a project's own QOS has."""
    return project.qos[0] if project.qos else NORMAL


def _budget(project: Project, slurm: Slurm) -> Qos:
    """A copy of a QOS with the budget. Fair share goes on to decay: the flag holds for the QOS's own use alone."""
    base = next((it for it in slurm.qos if it.name == like(project)), Qos(NORMAL))
    flags = (*base.flags, *([] if NO_DECAY in base.flags else [NO_DECAY]))
    return replace(base, name=own_qos(project), flags=flags, budget=project.budget)


def _preempting(qos: Qos, projects: Iterable[Project]) -> Qos:
    """What preempts a QOS preempts its copies too."""
    return replace(qos, preempt=_with_copies(qos.preempt, projects))


def _with_copies(names: tuple[str, ...], projects: Iterable[Project]) -> tuple[str, ...]:
    return (*names, *(own_qos(it) for it in projects if it.budget and like(it) in names))


def _closed_to_others(partition: Partition, projects: Iterable[Project], own: list[Project]) -> Partition:
    """Projects that name a partition are allowed there. Where all accounts are, the others are denied.

    This holds until an entry leaves the intent: accounts to delete still exist, and may have jobs that wait.
    """
    part = replace(partition, allow_qos=_with_copies(partition.allow_qos, own))
    if part.allow_accounts:
        inside = (it.name for it in projects if part.name in it.partitions)
        return replace(part, allow_accounts=(*part.allow_accounts, *inside))
    outside = [it.name for it in projects if part.name not in it.partitions]
    denied = [*filter(None, part.settings.get(DENY, "").split(",")), *outside]
    return replace(part, settings={**part.settings, DENY: ",".join(denied)}) if outside else part
