# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""JSON of nvbandwidth -j: copies between hosts and GPUs, one measure for each cell of a matrix.

The exit code is 0 also for tests that were waived, that failed or that do not exist.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..measure import Found, Missing
from .output import document, first_line, measured, not_recognised, part, parts, stopped

_UNITS = {"(GB/s)": ("GB/s", 1.0), "(ns)": ("us", 1e-3)}
_STATUS = {
    "Waived": "this system cannot run the test",
    "Not Found": "this release does not know the test",
    "ERROR": "this release does not know the test",
    "Error": "the test failed",
    "Running": "the test did not end",
}
_BETWEEN_GPUS = re.compile(r"GPU\(row\) (<->|->|<-) GPU\(column\)")


def measures(stdout: str, stderr: str, code: int, where: str, tests: Sequence[str]) -> list[Found]:
    """Bandwidths in GB/s and latencies in us of the wanted `tests`, each under its test's name.

    `where` is the node; a measure's own is "gpu01 GPU 3", or "gpu01 GPU 0 -> GPU 3" between GPUs.
    """
    if why := stopped(code):
        return [Missing(test, where, why) for test in tests]
    try:
        shown = part(document(stdout), "nvbandwidth")
    except ValueError:
        return [Missing(test, where, not_recognised(code, stdout, stderr)) for test in tests]
    error = first_line(str(shown.get("error", "")), stderr if code else "")
    # a test that fails is listed twice: as running, then with its error
    cases = {str(case.get("name")): case for case in parts(shown, "testcases")}
    return [found for test in tests for found in _of_test(test, cases.get(test, {}), code, where, error)]


def _of_test(test: str, case: Mapping[str, Any], code: int, where: str, error: str) -> list[Found]:
    status = str(case.get("status", ""))
    if status == "Passed" and not code:
        return _of_matrix(test, case, where)
    if status == "Passed":
        why = f"a later step failed (exit code {code})"
    else:
        why = _STATUS.get(status, f"unknown status {first_line(status)}" if status else "nvbandwidth did not run it")
    own = first_line(str(case.get("error", "")))
    return [Missing(test, where, ": ".join(text for text in (why, own or error) if text))]


def _of_matrix(test: str, case: Mapping[str, Any], where: str) -> list[Found]:
    words, rows = str(case.get("bandwidth_description", "")), case.get("bandwidth_matrix")
    unit, scale = next((value for key, value in _UNITS.items() if words.endswith(key)), ("", 0.0))
    if not unit:
        return [Missing(test, where, f"no unit that is known in: {first_line(words)}")]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        return [Missing(test, where, "no matrix")]
    arrow = _BETWEEN_GPUS.search(words)
    # tests in both directions print three matrices below each other; the last one is the total
    rows = rows[-len(rows[-1]) :] if arrow and rows else rows
    cells = [(row, column, cell) for row, line in enumerate(rows) for column, cell in enumerate(line)]
    found = [
        measured(
            test, cell, unit, f"{where} GPU {row} {arrow[1]} GPU {column}" if arrow else f"{where} GPU {column}", scale
        )
        for row, column, cell in cells
        if not (arrow and row == column)
    ]
    return found or [Missing(test, where, "an empty matrix")]
