# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/guides/questions.md: questions of people with panel, query and answer, from tests/alerts/questions.yml."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests/alerts/questions.yml"
PAGE = ROOT / "docs/guides/questions.md"
WIDTH = 108
HEAD = """# Questions and where their answers are

{number} questions about a site with Prometheus. A panel of a [dashboard](dashboards.md) answers each. You can also type
its query into Prometheus. The limit is in the query: a healthy site has an empty answer.

`$job` is the job's number. `$node`, `$rail`, `$switch`, `$partition` and `$fs` are regular expressions: `.*` means all.
`$__range` is the time that you look at, such as `1h`, and `$__interval` a minute.

The answers below come from made-up sites, each with one planted cause. The tests evaluate every query there and on a
healthy site.

<!-- `make dashboards` writes this page from tests/alerts/questions.yml. -->
"""
Json = dict[str, Any]


def page() -> str:
    """The text of the page."""
    asked = [it for it in yaml.safe_load(SOURCE.read_text()) if "question" in it]
    table = [f"| [{it['question']}](#{_anchor(it['question'])}) | {it['dashboard']} | {it['panel']} |" for it in asked]
    lines = [HEAD.format(number=len(asked)), "| question | dashboard | panel |", "|---|---|---|", *table]
    return "\n".join([*lines, *(_section(it) for it in asked)]) + "\n"


def _anchor(heading: str) -> str:
    return "".join(letter for letter in heading.lower().replace(" ", "-") if letter.isalnum() or letter == "-")


def _section(it: Json) -> str:
    query = textwrap.fill(it["query"], WIDTH, break_long_words=False, break_on_hyphens=False)
    named = "; ".join(", ".join(f'{label}="{value}"' for label, value in labels.items()) for labels in it["named"])
    return "\n".join(
        [
            f"\n## {it['question']}\n",
            f"Dashboard *{it['dashboard']}*, panel *{it['panel']}*:\n",
            f"```promql\n{query}\n```\n",
            f"Answer, for example: `{{{named}}}`\n",
            textwrap.fill(it["answer"], 120),
        ]
    )
