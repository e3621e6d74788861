# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Measure, Missing
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools import stream_text

from tests.unit.module_utils.proof.transcripts import changed, near, printed

HPCC = printed("hpcc")
STREAM = (
    "STREAM version $Revision: 5.10 $\n"
    "Function    Best Rate MB/s  Avg time     Min time     Max time\n"
    "Copy:          401000.1     0.010100     0.010000     0.010200\n"
    "Triad:         432100.5     0.014100     0.014000     0.014200\n"
    "Solution Validates: avg error less than 1.000000e-13 on all three arrays\n"
)


def missing(stdout: str, code: int = 0) -> str:
    [only] = stream_text.measures(stdout, "", code, "gpu01")
    assert isinstance(only, Missing) and (only.name, only.where) == ("memory bandwidth", "gpu01")
    return only.why


def test_the_star_triad_is_the_mean_of_a_process() -> None:
    rate = Measure("memory bandwidth", near(486.72), "GB/s", "gpu01")
    assert stream_text.measures(HPCC, "", 0, "gpu01") == [rate]


def test_the_program_stream_prints_mb() -> None:
    rate = Measure("memory bandwidth", near(432.1005), "GB/s", "gpu01")
    assert stream_text.measures(STREAM, "", 0, "gpu01") == [rate]
    assert stream_text.measures(changed(STREAM, "Best Rate MB/s", "Rate (MB/s) "), "", 0, "gpu01") == [rate]


def test_hpcc_appends_so_the_last_run_counts() -> None:
    older = changed(HPCC, "Triad=5.07", "Triad=9.99")
    [only] = stream_text.measures(older + HPCC, "", 0, "gpu01")
    assert isinstance(only, Measure) and only.value == near(486.72)
    assert "did not come to its end" in missing(older + HPCC.partition("Begin of Summary")[0])


@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        (HPCC.replace("Success=1", "Success=0"), 0, "Success is not 1"),
        (HPCC.replace("StarSTREAM_Triad=5.07", "StarSTREAM_Triad=-1"), 0, "printed -1 as the value"),
        (HPCC.replace("StarSTREAM_Triad", "Other"), 0, "printed None as the value"),
        (HPCC.replace("CommWorldProcs=96", ""), 0, "no number of processes"),
        (HPCC.partition("End of Summary")[0], 0, "did not come to its end"),
        (HPCC, 1, "exit code 1"),
        (HPCC, 124, "hung"),
        (STREAM.replace("Solution Validates", "Failed Validation"), 0, "did not validate"),
        (STREAM.replace("MB/s", "MiB/s"), 0, "not recognised (exit code 0): STREAM version"),
        ("", 0, "not recognised (exit code 0): no output"),
    ],
)
def test_a_run_without_a_result(text: str, code: int, why: str) -> None:
    assert why in missing(text, code)
