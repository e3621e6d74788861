# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables as uniform rows."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent

Json = dict[str, Any]


@functools.cache
def read(name: str) -> Any:
    """One of the tables as it is written."""
    return yaml.load((HERE / name).read_text(), yaml.CSafeLoader)


def attacks() -> list[Json]:
    """Everything that must be refused."""
    return [*read("attacks.yml"), *(attack for row in read("pods.yml") for attack in _each(row))]


def permits() -> list[Json]:
    """Everything that must be let in."""
    return read("permits.yml")


TEMPLATES = {
    "a template's pod": "job",
    "a pod of a set": "jobset",
    "a pod of a runtime": "trainingruntime",
    "a PyTorchJob's worker": "pytorchjob",
}


def _each(row: Json) -> list[Json]:
    """A pod that may not be: in a template of every kind of workload, and made by controllers."""
    asked = [(f"{what} {row['id']}", "job 4711", thing, "workloads") for what, thing in TEMPLATES.items()]
    asked += [
        (f"a pod {row['id']}", "job-controller", "pod", "job-pods"),
        (f"a Job of a set has a pod that {row['id']}", "jobset controller", "job of a jobset", "workloads"),
        (f"a pod of a PyTorchJob {row['id']}", "training-operator", "pod of a pytorchjob", "job-pods"),
    ]
    rest = {key: row[key] for key in ("saying", "since") if key in row}
    return [
        {"id": name, "as": who, "create": thing, "pod": row["spec"], "guard": guard, **rest}
        for name, who, thing, guard in asked
    ]
