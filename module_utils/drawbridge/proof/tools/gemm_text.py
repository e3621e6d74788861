# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lines `GPU 0: 740.1 TFLOPS` of the site's program that multiplies matrices on each GPU of a node."""

from __future__ import annotations

import re

from ..measure import Found, Missing
from .output import last_line, measured, not_recognised, stopped

NAME = "GEMM"
_LINE = re.compile(r"^GPU (\d+): (\S+) TFLOPS\b", re.MULTILINE)


def measures(stdout: str, stderr: str, code: int, where: str) -> list[Found]:
    """BF16 TFLOPS of each GPU that the program printed; `where` is the node, and a measure's own is "gpu01 GPU 3".

    Of several lines of a GPU the last one counts. A program that fails measured nothing: its lines may be of a warm-up.
    """
    if why := stopped(code):
        return [Missing(NAME, where, why)]
    if code:
        return [Missing(NAME, where, f"exit code {code}; last line: {last_line(stdout, stderr)}")]
    lines = {int(gpu): value for gpu, value in _LINE.findall(stdout)}
    found = [measured(NAME, value, "TFLOPS", f"{where} GPU {gpu}") for gpu, value in sorted(lines.items())]
    return found or [Missing(NAME, where, not_recognised(code, stdout, stderr))]
