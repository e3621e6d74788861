# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Text for blocks of Prometheus: promtool's own evaluation decides what its notation means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.alerts.blocks import openmetrics, values
from tests.alerts.promtool import promtool
from tests.alerts.synthetic import QUESTIONS, site, whole

NOTATIONS = (
    "5",
    "3x4",
    "0+10x6",
    "7-2x5",
    "-4e3+0.1x5",
    "1e2x2 _ 4",
    "_x3 1x2",
    "1 _x2 0.5+0.25x3 -1x1",
    "0x2 1x2",
)
MINUTES = 16


def sample(number: int, value: float) -> dict[str, Any]:
    return {"labels": f'x{{n="{number}"}}', "value": value}


def test_values_are_those_that_promtool_reads_of_the_notation(tmp_path: Path) -> None:
    """Each minute of each notation, and that nothing comes after the last one."""
    read = [values(notation) for notation in NOTATIONS]
    assert max(map(len, read)) < MINUTES
    cases = [
        {
            # so short that a sample counts in its own minute alone
            "expr": "last_over_time(x[30s])",
            "eval_time": f"{minute}m",
            "exp_samples": [
                sample(number, value)
                for number, found in enumerate(read)
                if minute < len(found) and (value := found[minute]) is not None
            ],
        }
        for minute in range(MINUTES)
    ]
    series = [{"series": f'x{{n="{number}"}}', "values": notation} for number, notation in enumerate(NOTATIONS)]
    group = {"name": "notation", "interval": "1m", "input_series": series, "promql_expr_test": cases}
    (tmp_path / "notation.test.yml").write_text(whole([group]))
    code, said = promtool(["test", "rules", str(tmp_path / "notation.test.yml")])
    assert code == 0, said


def test_all_series_of_made_up_sites_can_be_read() -> None:
    for series, notation in site(*(it["planted"] for it in QUESTIONS)).items():
        assert len(values(notation)) in (40, 41, 42), series


@pytest.mark.parametrize("word", ["stale", "_+1x3", "1+x3", "1x", "x3", "1x-2", "{{count:1}}"])
def test_another_notation_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match=r"is neither a number"):
        values(f"1 {word}")


def test_samples_have_times_and_those_that_are_times_count_from_the_start() -> None:
    series = {'a{b="c d"}': "1+1x1 _ 4", "b_timestamp_seconds": "-60x1", 'c_timestamp_seconds{d="e"}': "0+60x1"}
    assert openmetrics(series, 7200).splitlines() == [
        'a{b="c d"} 1.0 7200',
        'a{b="c d"} 2.0 7260',
        'a{b="c d"} 4.0 7380',
        "b_timestamp_seconds 7140.0 7200",
        "b_timestamp_seconds 7140.0 7260",
        'c_timestamp_seconds{d="e"} 7200.0 7200',
        'c_timestamp_seconds{d="e"} 7260.0 7260',
    ]
