# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of projects. What an account must be, the rules of accounts say, with the project's own key."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from ..core.faults import MISSING, Fault
from ..core.rules import doubled
from ..slurm.accounting.ends import KEPT_DAYS, day, ended_for, forgotten
from ..slurm.model import Slurm
from .accounts import like, live, own_qos
from .model import OPEN, Project, Projects

KEY = "drawbridge_projects"


def place(index: int) -> str:
    """The key of a project in the list."""
    return f"{KEY}.projects[{index}]"


def names_are_free(projects: Projects, slurm: Slurm) -> Iterator[Fault]:
    """A project has an account of its own, which drawbridge_slurm does not declare."""
    names = [project.name for project in projects.projects]
    yield from doubled(f"{KEY}.projects", names, "give every project a name of its own")
    count = len(slurm.accounts) - len(live(projects))
    declared = {account.name for account in slurm.accounts[:count]}
    for index, name in enumerate(names):
        if name in declared:
            reason = "drawbridge_slurm.accounts declares an account of that name"
            yield Fault(f"{place(index)}.name", name, reason, "take one of the two out")


def partitions_exist(projects: Projects, slurm: Slurm) -> Iterator[Fault]:
    """What a project does not name is closed to it, so a misspelt partition would close it silently."""
    known = [part.name for part in slurm.partitions]
    for index, project in enumerate(projects.projects):
        for name in project.partitions:
            if name not in known:
                reason = "drawbridge_slurm.partitions does not declare it"
                yield Fault(f"{place(index)}.partitions", name, reason, f"use some of {', '.join(known)}")
        yield from doubled(f"{place(index)}.partitions", list(project.partitions), "name each once")


def budgets_have_one_qos(projects: Projects, slurm: Slurm) -> Iterator[Fault]:
    """A job counts for the budget of its QOS, so another one would go past the budget."""
    own = {own_qos(project) for project in live(projects) if project.budget}
    known = slurm.known_qos - own
    for index, project in enumerate(projects.projects):
        if not project.budget:
            continue
        if len(project.qos) > 1:
            reason = "jobs of a second QOS would not count for the budget"
            yield Fault(f"{place(index)}.qos", list(project.qos), reason, f"leave {project.qos[0]} alone")
        elif like(project) not in known:
            reason = "drawbridge_slurm.qos does not declare it, and the budget's QOS has its settings"
            yield Fault(f"{place(index)}.qos", like(project), reason, f"use one of {', '.join(sorted(known))}")
        if max(project.budget.gpu_hours, project.budget.cpu_hours, project.budget.node_hours) < 0:
            reason = "it limits nothing"
            yield Fault(f"{place(index)}.budget", MISSING, reason, "set gpu_hours, or take the budget out")


def ends_are_days(projects: Projects) -> Iterator[Fault]:
    """An end date is a day, and a person decides about data of long ago."""
    now = date.today()
    for index, project in enumerate(projects.projects):
        key = f"{place(index)}.ends"
        if project.ends and not day(project.ends):
            yield Fault(key, project.ends, "no calendar has this day", "write a day that exists")
        elif project.state == OPEN and forgotten(project.ends, now):
            days = ended_for(project.ends, now)
            reason = f"it is {days} days past, and after {KEPT_DAYS} days a person must say what becomes of it"
            yield Fault(key, project.ends, reason, "set state: closed, archived or removed, or a later day")


def people_can_enter(projects: Projects) -> Iterator[Fault]:
    """A directory belongs to people of the project."""
    for index, project in enumerate(projects.projects):
        own = project.directory
        if own and own.owner == "root" and not group_of(project):
            reason = "the directory would be root's alone, and no one of the project could enter it"
            yield Fault(f"{place(index)}.directory.group", MISSING, reason, "set the group of its people")


def group_of(project: Project) -> str:
    """The group of a project's directory."""
    own = project.directory
    return (own.group if own else "") or (project.groups[0] if project.groups else "")


RULES = (names_are_free, partitions_exist, budgets_have_one_qos, ends_are_days, people_can_enter)
