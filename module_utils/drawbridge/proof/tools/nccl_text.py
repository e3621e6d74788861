# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of nccl-tests and rccl-tests: the bus bandwidth of the last size, from the JSON of -J or from the table.

A launcher (mpirun, srun) may hide a rank's exit code, so the text decides before the code does.
The average that the tools print counts all sizes, small ones too, and is not used.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..measure import Found, Measure, Missing, Remark
from .output import document, first_line, last_line, line_with, measured, part, parts, stopped

_CODES = {
    1: "internal error",
    2: "CUDA failed",
    3: "NCCL failed",
    4: "the time limit of option -T passed",
    5: "not implemented on these GPUs",
    6: "wrong options",
    7: "wrong results, or less than NCCL_TESTS_MIN_BW",
}
_FAILURES = (
    ("Got completion from peer", "packets to a peer are lost: a rail is down or drops"),
    ("Test NCCL failure", "NCCL failed"),
    ("Test CUDA failure", "CUDA failed"),
    ("Test timeout", "the time limit of option -T passed"),
    ("Invalid number of GPUs", "a GPU is missing"),
    (": Test failure", "a rank failed"),
)
"""What a failed rank prints; the cause comes before its consequences."""
_WRONG = re.compile(r"^# Out of bounds values\s*:\s*(\d+)", re.MULTILINE)
_AVERAGE = re.compile(r"^# Avg bus bandwidth\s*:\s*\S+[ ]*(FAILED)?", re.MULTILINE)


@dataclass(frozen=True)
class _Run:
    """A run that came to its end. `rates`: the last size's bus bandwidths, out of place and in place, as printed."""

    rates: Sequence[object]
    wrong: str
    """How many values are out of bounds; empty without any."""
    below_its_limit: bool
    warnings: Sequence[str] = ()


def measures(stdout: str, stderr: str, code: int, where: str, name: str, report: str | None = None) -> list[Found]:
    """The bus bandwidth in GB/s under `name`: the mean of in place and out of place, for the last size.

    `report` is the text of the file of -J; None reads the table in stdout. Wrong results are Missing.
    A NCCL warning in a run that passed is a Remark.
    """
    why = stopped(code) or failure(stdout, stderr)
    if why:
        return [Missing(name, where, why)]
    try:
        run = _from_table(stdout) if report is None else _from_report(report)
    except ValueError as err:
        return [Missing(name, where, f"{err} (exit code {_meaning(code)}); last line: {last_line(stdout, stderr)}")]
    return [_judged(run, code, where, name), *(Remark("NCCL warning", where, text) for text in run.warnings)]


def failure(stdout: str, stderr: str) -> str:
    """What a failed rank printed, with its meaning; empty without a failure."""
    for word, meaning in _FAILURES:
        if line := line_with(word, stdout, stderr):
            return f"{meaning}: {line}"
    return ""


def _meaning(code: int) -> str:
    """The code with its meaning. The code of a launcher may have another one, hence "or"."""
    return f"{code}: {_CODES.get(code, 'a rank')}, or the launcher failed" if code else "0"


def _judged(run: _Run, code: int, where: str, name: str) -> Found:
    if run.wrong:
        return Missing(name, where, f"wrong results: {run.wrong} values are out of bounds")
    if code and not run.below_its_limit:
        return Missing(name, where, f"exit code {_meaning(code)}")
    rates = [measured(name, rate, "GB/s", where) for rate in run.rates]
    numbers = [rate.value for rate in rates if isinstance(rate, Measure)]
    if not rates or len(numbers) < len(rates):
        return next((rate for rate in rates if isinstance(rate, Missing)), Missing(name, where, "no size was measured"))
    return Measure(name, sum(numbers) / len(numbers), "GB/s", where)


def _from_report(report: str) -> _Run:
    """The run from its JSON. Raises ValueError for a file that a dead rank left unfinished."""
    try:
        shown = document(report)
    except ValueError as err:
        raise ValueError("unfinished JSON: a rank died") from err
    average, bounds = part(shown, "average_bus_bandwidth"), part(shown, "out_of_bounds")
    results = parts(shown, "results")
    if not average or not bounds or "end_time" not in shown:
        raise ValueError("the JSON has no end: a rank failed")
    sides = [part(results[-1], key) for key in ("out_of_place", "in_place")] if results else []
    wrong = "" if bounds.get("okay") == "true" else first_line(str(bounds.get("count"))) or "some"
    errors = shown.get("errors")
    # the list has an empty text after a run without an error
    warnings = [first_line(str(error)) for error in errors if error] if isinstance(errors, list) else []
    return _Run([side.get("bus_bw") for side in sides if side], wrong, average.get("okay") == "false", warnings)


def _from_table(stdout: str) -> _Run:
    """The run from its table. Raises ValueError for text without a table, and for a table without its last lines."""
    columns: list[str] = []
    row: list[str] = []
    for line in stdout.splitlines():
        cells = line.split()
        if cells[:2] == ["#", "size"] and "busbw" in cells:
            columns = cells[1:]
        elif columns and len(cells) >= len(columns) and cells[0].isdigit():
            row = cells
    if not columns:
        raise ValueError(f"not recognised: {first_line(stdout) or 'no output'}")
    wrong, average = _WRONG.search(stdout), _AVERAGE.search(stdout)
    if not wrong or not average:
        raise ValueError("the table has no end: a rank died")
    rates = [cell for column, cell in zip(columns, row) if column == "busbw"]
    return _Run(rates, wrong[1] if int(wrong[1]) else "", average[1] is not None)
