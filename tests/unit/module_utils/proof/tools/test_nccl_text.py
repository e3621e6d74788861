# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Measure,
    Missing,
    Remark,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools import nccl_text

from tests.unit.module_utils.proof.transcripts import changed, printed

TABLE, REPORT, RCCL = (printed(name) for name in ("all_reduce", "all_reduce_json", "rccl_all_reduce"))
UNCHECKED = '"okay":"unchecked"'


def found(stdout: str, code: int = 0, report: str | None = None, stderr: str = "") -> list[Found]:
    return nccl_text.measures(stdout, stderr, code, "gpu[01-02]", "bus", report)


def value(stdout: str, code: int = 0, report: str | None = None) -> float:
    [first] = found(stdout, code, report)
    assert isinstance(first, Measure) and (first.name, first.unit, first.where) == ("bus", "GB/s", "gpu[01-02]")
    return first.value


def missing(stdout: str, code: int = 0, report: str | None = None, stderr: str = "") -> str:
    [first] = found(stdout, code, report, stderr)
    assert isinstance(first, Missing) and (first.name, first.where) == ("bus", "gpu[01-02]")
    return first.why


def test_the_last_size_counts_and_not_the_average_of_all() -> None:
    assert value(TABLE) == pytest.approx(364.94) == value("", 0, REPORT)
    assert "352.748" in TABLE and "352.747500" in REPORT


def test_the_table_of_rccl_tests() -> None:
    """It ends with exit code 1 when the rate is below its own limit: the rate was measured."""
    assert value(RCCL, 1) == pytest.approx(311.345) == value(changed(RCCL, "FAILED", "OK"))


def test_tables_with_times_of_iterations_and_with_one_side() -> None:
    side = "time algbw busbw #wrong i_min i_max i_p99 i_cv%"
    header = f"# size count type redop root {side} {side}"
    row = "1024 256 float sum -1 5 1 300.0 0 4 9 8 1.0 5 1 310.0 0 4 9 8 1.0"
    end = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 305 \n"
    assert value(f"{header}\n{row}\n{end}") == 305.0
    assert value(f"{header} timestamp\n{row} 2026-11-20 03:10:12\n{end}") == 305.0
    assert (
        value(f"# size count type redop root time algbw busbw #wrong\n1024 256 float sum -1 5 1 300.0 N/A\n{end}")
        == 300.0
    )
    assert "no size" in missing(f"{header}\n{end}")


def test_a_rate_below_nccl_tests_min_bw_is_measured() -> None:
    assert value(changed(TABLE, "352.748 ", "352.748 FAILED"), 7) == pytest.approx(364.94)
    assert value("", 1, changed(REPORT, UNCHECKED, '"okay":"false"')) == pytest.approx(364.94)


def test_wrong_results_are_missing_whatever_the_code() -> None:
    assert "wrong results: 3" in missing(changed(TABLE, ": 0 OK", ": 3 FAILED"), 7)
    wrong = changed(REPORT, '{"count":0,"okay":"true"}', '{"count":3,"okay":"false"}')
    assert "wrong results: 3" in missing("", 0, wrong)
    assert "wrong results: some" in missing("", 0, changed(wrong, "3,", '"",'))


@pytest.mark.parametrize(("code", "why"), [(2, "CUDA failed"), (3, "NCCL failed"), (4, "-T passed"), (9, "launcher")])
def test_an_exit_code_counts_after_a_whole_report_too(code: int, why: str) -> None:
    assert why in missing("", code, REPORT) and why in missing(TABLE, code) and why in missing("", code)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("gpu07: Test NCCL failure common.cu:1234 'unhandled system error / '", "NCCL failed: gpu07:"),
        ("gpu07: Test CUDA failure common.cu:900 'out of memory'", "CUDA failed: gpu07:"),
        ("gpu07: Test timeout (60s) common.cu:525", "time limit of option -T passed: gpu07:"),
        (" .. gpu07 pid 4100: Test failure common.cu:420", "a rank failed: .. gpu07"),
        ("gpu07:1:2 [0] NCCL WARN NET/IB : Got completion from peer 10.0.0.9 with status=12", "a rail is down"),
    ],
)
def test_a_launcher_hides_no_failure(line: str, why: str) -> None:
    """The launcher ended with 0, and rank 0 closed its JSON before it failed."""
    assert why in missing(f"{TABLE}{line}\n", 0, REPORT) and why in missing(TABLE, stderr=f"{line}\n")


def test_the_json_of_a_dead_rank_is_missing_with_the_last_line_of_the_log() -> None:
    for cut in (10, 400, len(REPORT) // 2, len(REPORT) - 3):
        why = missing("# Using devices\nsrun: error: gpu07: task 3: Killed\n", 0, REPORT[:cut])
        assert "unfinished JSON" in why and why.endswith("srun: error: gpu07: task 3: Killed")
    begin, _average, _end = REPORT.partition(',"average_bus_bandwidth"')
    assert "no end" in missing("", 3, f"{begin}}}") and "NCCL failed" in missing("", 3, f"{begin}}}")
    assert "no end" in missing("", 0, changed(REPORT, ',"end_time":"2026-11-20 03:10:31"', ""))
    assert "no end" in missing("", 0, changed(REPORT, '"average_bus_bandwidth"', '"other"'))
    assert "unfinished" in missing(TABLE, 0, "")


def test_a_report_without_sizes_or_numbers() -> None:
    begin, _results, end = REPORT.partition('"results":[')
    assert "no size" in missing("", 0, f'{begin}"results":[{end[end.index("],") :]}')
    assert "printed nan" in missing("", 0, changed(REPORT, "364.890000", '"nan"'))


def test_a_table_without_its_end() -> None:
    assert "no end" in missing(TABLE.partition("# Out of bounds")[0])
    assert "no end" in missing(TABLE.partition("# Avg bus")[0])
    assert "not recognised: hello" in missing("hello\n") and "no output" in missing("")
    assert "hung" in missing(TABLE, 124)


def test_a_warning_of_a_run_that_passed_is_a_remark() -> None:
    both = found("", 0, changed(REPORT, '"errors":[""]', '"errors":["Mismatched versions"]'))
    assert both[1] == Remark("NCCL warning", "gpu[01-02]", "Mismatched versions") and isinstance(both[0], Measure)
