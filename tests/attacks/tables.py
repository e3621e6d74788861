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
    return [*read("attacks.yml"), *(attack for row in read("pods.yml") for attack in _twice(row))]


def permits() -> list[Json]:
    """Everything that must be let in."""
    return read("permits.yml")


def _twice(row: Json) -> tuple[Json, Json]:
    """A pod that may not be: in a workload's template, and made by the job controller."""
    said = row["saying"]
    return (
        {
            "id": f"a template's pod {row['id']}",
            "as": "job 4711",
            "create": "job",
            "with": {"spec": {"template": {"spec": row["spec"]}}},
            "guard": "workloads",
            "saying": said,
        },
        {
            "id": f"a pod {row['id']}",
            "as": "job-controller",
            "create": "pod",
            "with": {"spec": row["spec"]},
            "guard": "job-pods",
            "saying": said,
        },
    )
