# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes as kubectl prints them with TEMPLATE. Pure."""

from __future__ import annotations

from ..gate.decide import state
from ..gate.gate_names import ADOPTING, TAINT
from ..gate.states import owner
from .model import Member

TEMPLATE = (
    'jsonpath={range .items[*]}{.metadata.name}{"\\t"}{.spec.unschedulable}{"\\t"}'
    '{.status.conditions[?(@.type=="Ready")].status}{"\\t"}'
    '{range .spec.taints[*]}{.key}={.value}{" "}{end}{"\\t"}'
    '{range .metadata.managedFields[?(@.manager=="drawbridge-gate")]}{.time}{" "}{end}{"\\n"}{end}'
)
"""kubectl prunes the objects: a whole Node object is a hundred times as long."""


def members(text: str) -> dict[str, Member]:
    """Members of the cluster by name."""
    rows = (line.split("\t") for line in text.splitlines() if line.count("\t") == 4)
    return {row[0]: member(*row) for row in rows}


def member(name: str, cordoned: str, ready: str, taints: str, moved: str) -> Member:
    """One line's words."""
    found = dict(taint.split("=", 1) for taint in taints.split())
    value = found.get(TAINT, "")
    holder = owner(value)
    number = str(holder.job) if holder else ""
    last = max(moved.split(), default="")
    return Member(name, state(value), value, number, ready == "True", cordoned == "true", ADOPTING in found, last)
