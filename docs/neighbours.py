# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What was tried beside the attacks, with its result, as tables of docs/concepts/gate-neighbours.md."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from tests.attacks.tables import neighbours

Json = dict[str, Any]
HEAD = "| act | by | requests | result |\n|---|---|---|---|"
RESULTS = {"none": "let in", "rbac": "no right", "server": "no such request"}


def tables() -> str:
    """A section for each attack, with a line for each act."""
    sections = []
    for title, rows in groupby(neighbours(), lambda row: row["of"]):
        acts = groupby(rows, lambda row: (row["act"], row["tried"], row.get("harmless", "")))
        lines = [_line(*act, ", ".join(row["as"] for row in same)) for act, same in acts]
        sections.append(
            "\n".join((f"## {title}\n", "| act | by | requests | result |", "|---|---|---|---|", *lines, ""))
        )
    return "\n".join(sections)


def _line(act: str, tried: Json, harmless: str, people: str) -> str:
    results: dict[str, list[str]] = {}
    for way, guard in tried.items():
        results.setdefault(guard, []).append(way)
    usual = max(results, key=lambda guard: len(results[guard]))
    told = [_result(usual) + (f": {harmless}" if harmless else "")]
    told += [f"{_result(guard)} ({', '.join(found)})" for guard, found in results.items() if guard != usual]
    return f"| {act} | {people} | {', '.join(tried)} | {'; '.join(told)} |"


def _result(guard: str) -> str:
    return RESULTS.get(guard) or " or ".join(f"`{name}`" for name in guard.split(" or "))
