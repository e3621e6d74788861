# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A made-up site as blocks of a real Prometheus: series at a time in the past, and the recorded series.

`promtool tsdb create-blocks-from rules` evaluates rules as `recorded` does, but writes a block for each rule.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import yaml

from docs.dashboards.answers import Prometheus
from tests.alerts.promtool import promtool
from tests.alerts.synthetic import AT, RULES, Series

STEP_S = 60
"""Between two samples, and between two evaluations of a rule."""
END_S = int(AT.removesuffix("m")) * 60
"""From a site's start to the time at which it is queried."""
BLOCK_S = 7200
"""Prometheus cuts blocks at multiples of it: a site that starts at one is in one block."""
APART_S = 26 * 3600
"""Between the starts of two sites, in whole blocks: rules look back for up to a day."""
END = "# EOF\n"
_TIME = "_timestamp_seconds"
"""End of the names of metrics whose values are times. Made-up sites count them from their start."""
_NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_WORD = re.compile(rf"(?P<first>_|[+-]?{_NUMBER})(?P<step>[+-]{_NUMBER})?(?:x(?P<times>\d+))?")


def values(notation: str) -> list[float | None]:
    """Samples in promtool's notation, None for a missing one. Raises ValueError for what made-up sites do not use.

    Stale markers are refused too: OpenMetrics has none.
    """
    found: list[float | None] = []
    for word in notation.split():
        parts = _WORD.fullmatch(word)
        if not parts or (parts["first"] == "_" and parts["step"]):
            raise ValueError(f"{word} is neither a number, nor a+bxN, axN, _ or _xN")
        times = int(parts["times"] or 0)
        if parts["first"] == "_":
            found += [None] * (times if parts["times"] else 1)
        else:
            steps = itertools.repeat(float(parts["step"] or 0), times)
            found += itertools.accumulate(steps, initial=float(parts["first"]))
    return found


def openmetrics(series: Series, start: int) -> str:
    """Lines of OpenMetrics, without its end, for series that start at this Unix time."""
    return "".join(_lines(series, start))


def _lines(series: Series, start: int) -> Iterator[str]:
    for name, notation in series.items():
        since = start if name.partition("{")[0].endswith(_TIME) else 0
        for number, value in enumerate(values(notation)):
            if value is not None:
                yield f"{name} {value + since!r} {start + number * STEP_S}\n"


def recorded(prometheus: Prometheus, start: int) -> str:
    """Lines of OpenMetrics for all series that the rules record of the site with this start, which Prometheus has."""
    rules = yaml.safe_load(RULES.read_text())["groups"]
    return "".join(
        f"{_series(rule['record'], answer.labels)} {value!r} {at:.0f}\n"
        for rule in (rule for group in rules for rule in group["rules"])
        for answer in prometheus.over_time(rule["expr"], start, start + END_S, STEP_S)
        for at, value in zip(answer.times, answer.values, strict=True)
    )


def _series(name: str, labels: Mapping[str, str]) -> str:
    """A series as text; OpenMetrics escapes quotes, backslashes and line ends as JSON does."""
    pairs = (f"{label}={json.dumps(text, ensure_ascii=False)}" for label, text in labels.items() if label != "__name__")
    return f"{name}{{{','.join(pairs)}}}"


def write(texts: Iterable[str], folder: Path, scratch: Path) -> None:
    """Make blocks in the folder of lines of OpenMetrics, by promtool. Raises AssertionError with what it says.

    A text for each site: promtool reads the whole text once for each block.
    """
    for text in texts:
        scratch.write_text(f"{text}{END}")
        code, said = promtool(["tsdb", "create-blocks-from", "openmetrics", "-q", str(scratch), str(folder)])
        assert code == 0, said
