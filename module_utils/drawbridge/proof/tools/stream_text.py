# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Memory bandwidth: the triad of STREAM, from hpcc's hpccoutf.txt or from the program stream itself."""

from __future__ import annotations

import re

from ..measure import Found, Missing
from .output import last_line, measured, not_recognised, stopped

NAME = "memory bandwidth"
_END = "End of Summary section."
_SUMMARY = re.compile(r"^(\w+)=(.*)$", re.MULTILINE)
_RATE_UNITS = {"MB/s": 1e-3, "GB/s": 1.0}
_HEADER = re.compile(r"^Function\s+(?:Best )?Rate \(?([MG]B/s)\)?", re.MULTILINE)
_TRIAD = re.compile(r"^Triad:\s+(\S+)", re.MULTILINE)


def measures(stdout: str, stderr: str, code: int, where: str) -> list[Found]:
    """The node's memory bandwidth in GB/s (1e9 bytes a second).

    `stdout` is the text of hpccoutf.txt, or the output of stream. hpcc appends to an old file: the caller removes it.
    """
    if why := stopped(code):
        return [Missing(NAME, where, why)]
    if code:
        return [Missing(NAME, where, f"exit code {code}; last line: {last_line(stdout, stderr)}")]
    if "section." in stdout:
        return [_from_hpcc(stdout, where)]
    header, triad = _HEADER.search(stdout), _TRIAD.search(stdout)
    if not header or not triad:
        return [Missing(NAME, where, not_recognised(code, stdout, stderr))]
    if "Solution Validates" not in stdout:
        return [Missing(NAME, where, "STREAM did not validate its results")]
    return [measured(NAME, triad[1], "GB/s", where, _RATE_UNITS[header[1]])]


def _from_hpcc(text: str, where: str) -> Found:
    """StarSTREAM runs on all processes at once, and its triad is the mean of one process: times their number."""
    summary, end, rest = text.rpartition("Begin of Summary section.")[2].partition(_END)
    shown = dict(_SUMMARY.findall(summary))
    if not end or "HPC Challenge Benchmark" in rest:
        return Missing(NAME, where, f"hpcc did not come to its end; last line: {last_line(text)}")
    if shown.get("Success") != "1":
        return Missing(NAME, where, "hpcc says that its results are wrong (Success is not 1)")
    processes = shown.get("CommWorldProcs", "")
    if not processes.isdigit():
        return Missing(NAME, where, "hpcc printed no number of processes")
    # -1 is the value of a part that did not run
    return measured(NAME, shown.get("StarSTREAM_Triad"), "GB/s", where, float(processes))
