# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A made-up site in promtool's notation: healthy, or with planted causes."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

HOME = Path(__file__).parent
RULES = HOME.parents[1] / "examples/prometheus/drawbridge.recording.rules.yml"
SITE = yaml.safe_load((HOME / "healthy_site.yml").read_text())
QUESTIONS: list[dict[str, Any]] = yaml.safe_load((HOME / "questions.yml").read_text())
"""Those with a `question` are for people; the others are the remaining tables of dashboards."""
AT = "40m"
"""When queries are evaluated: at the end of all series."""
VARIABLES = {"$__range": "30m", "$__interval": "5m", "$__rate_interval": "5m", "$job": "4711"}
"""Values of Grafana's variables; those that are left match everything."""
Series = Mapping[str, str]


def expanded(entries: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Values by series, with all names of a list in the place of <list>."""
    found: dict[str, str] = {}
    for entry in entries:
        words = [word for word in SITE["lists"] if f"<{word}>" in entry["series"]]
        for names in itertools.product(*(SITE["lists"][word] for word in words)):
            series = entry["series"]
            for word, name in zip(words, names, strict=True):
                series = series.replace(f"<{word}>", name)
            found[series] = entry["values"]
    return found


def site(*planted: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """All series of the site."""
    found = expanded(SITE["series"])
    for entries in planted:
        found |= expanded(entries)
    return found


def asked(query: str) -> str:
    """The query with values of Grafana's variables."""
    for name, value in VARIABLES.items():
        query = re.sub(rf"{re.escape(name)}\b", value, query)
    return re.sub(r'"\$\w+"', '".*"', query)


def group(name: str, series: Series, cases: Iterable[tuple[str, Sequence[Mapping[str, str]]]]) -> dict[str, Any]:
    """A test for promtool: queries on these series, and the labels of all that each must return."""
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": series, "values": values} for series, values in series.items()],
        "promql_expr_test": [
            {
                "expr": f"0 * ({query}) + 1",
                "eval_time": AT,
                "exp_samples": [{"labels": _labels(labels), "value": 1} for labels in named],
            }
            for query, named in cases
        ],
    }


def _labels(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}"


def whole(groups: list[dict[str, Any]]) -> str:
    """The file that promtool reads, as JSON, which is YAML. Rules are evaluated seldom: series are straight lines."""
    return json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "5m", "tests": groups})
