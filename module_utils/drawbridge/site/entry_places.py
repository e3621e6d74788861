# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Where a person wrote what a fault is about: entries in own variables, accounts and QOS that projects make."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from ..core.faults import Fault
from ..projects.accounts import live, own_qos
from ..projects.model import Projects
from .compose import entries

_ENTRY = re.compile(r"drawbridge_(projects\.projects|slurm\.accounts|slurm\.qos)\[(\d+)\]")


def places(parts: Mapping[str, Any], variables: Collection[str]) -> dict[tuple[str, int], str]:
    """The keys of projects, accounts and QOS that are elsewhere, by the list and their place in it once expanded."""
    projects, slurm = parts.get("projects"), parts.get("slurm")
    if not isinstance(projects, Projects):
        return {}
    further = entries("projects", variables)
    first = len(projects.projects) - len(further)
    at = {
        index: f"drawbridge_{further[index - first]}" if index >= first else f"drawbridge_projects.projects[{index}]"
        for index in range(len(projects.projects))
    }
    own = live(projects)
    accounts = len(slurm.accounts) - len(own) if slurm else 0
    found = {("projects.projects", index): key for index, key in at.items()}
    where = {id(project): at[index] for index, project in enumerate(projects.projects)}
    found |= {("slurm.accounts", accounts + index): where[id(it)] for index, it in enumerate(own)}
    budgets = {own_qos(it): where[id(it)] for it in own if it.budget}
    services = enumerate(slurm.qos if slurm else ())
    return found | {("slurm.qos", index): budgets[qos.name] for index, qos in services if qos.name in budgets}


def placed(fault: Fault, known: Mapping[tuple[str, int], str]) -> Fault:
    """The fault with the keys that a person wrote."""

    def key(match: re.Match[str]) -> str:
        return known.get((match[1], int(match[2])), match[0])

    if not known:
        return fault
    texts = {name: _ENTRY.sub(key, getattr(fault, name)) for name in ("key", "reason", "repair")}
    return replace(fault, **texts)
