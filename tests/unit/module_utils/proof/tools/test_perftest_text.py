# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Measure,
    Missing,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools import perftest_text

from tests.unit.module_utils.proof.transcripts import changed, printed

WHERE = "gpu01 rail3 -> gpu02 rail3"
BW, JSON, LAT, SERVER = (printed(name) for name in ("write_bw", "write_bw_json", "write_lat", "write_bw_server"))
RATE, MTU = Measure("rate", 391.43, "Gb/s", WHERE), Measure("path MTU", 4096.0, "bytes", WHERE)


def found(stdout: str, stderr: str = "", code: int = 0) -> list[Found]:
    return perftest_text.measures(stdout, stderr, code, WHERE, "rate")


def missing(stdout: str, stderr: str = "", code: int = 0) -> str:
    first = found(stdout, stderr, code)[0]
    assert isinstance(first, Missing) and (first.name, first.where) == ("rate", WHERE)
    return first.why


def test_rate_and_path_mtu_of_a_client() -> None:
    assert found(BW) == [RATE, MTU] == found(JSON)
    assert found(LAT) == [Measure("rate", 2.7, "us", WHERE), MTU]


def test_a_smaller_mtu_that_both_ends_negotiated_is_seen() -> None:
    assert found(changed(BW, ": 4096[B]", ": 1024[B]"))[1] == Measure("path MTU", 1024.0, "bytes", WHERE)
    assert found(changed(JSON, '"Mtu": 4096', '"Mtu": 1024'))[1] == Measure("path MTU", 1024.0, "bytes", WHERE)
    unknown = found(changed(BW, " Mtu ", " Path "))
    assert unknown[0] == RATE and isinstance(unknown[1], Missing)


@pytest.mark.parametrize("unit", ["MiB/sec", "MB/sec"])
def test_the_unit_comes_from_the_header(unit: str) -> None:
    first = found(changed(changed(BW, "Gb/sec", unit), "391.43", "46662.09"))[0]
    assert isinstance(first, Measure) and first.unit == "Gb/s" and first.value == pytest.approx(391.43, abs=0.01)
    assert "no unit" in missing(changed(BW, "Gb/sec", "GB/sec"))


def test_the_unit_of_json_comes_from_its_message_rate() -> None:
    first = found(changed(JSON, "391.43", "46662.09"))[0]
    assert isinstance(first, Measure) and first.value == pytest.approx(391.43, abs=0.01)
    for old, new in (("391.43", "48.9"), ("0.046662", "0.000000"), ('"MsgRate"', '"Rate"'), ("391.43", "true")):
        assert "no unit" in missing(changed(JSON, old, new))


def test_json_that_perftest_writes_invalid() -> None:
    tail = changed(JSON, '"MsgSize": 1048576,\n"n_iterations": 466620,\n"BW_peak": 0.00,\n"BW_average": 391.43,', "")
    for text in (
        changed(tail, '"MsgRate": 0.046662', '"bw_avg": 391.43,'),
        JSON[:300],
        changed(JSON, '"n_it', "sl: 3,"),
    ):
        assert "invalid JSON" in missing(text)


def test_a_number_without_a_table_is_not_recognised() -> None:
    """Option --output prints the number alone, without its unit."""
    assert missing("391.43\n") == "not recognised (exit code 0): 391.43"
    assert missing("") == "not recognised (exit code 0): no output"


def test_the_last_whole_row_counts() -> None:
    row = next(line for line in BW.splitlines() if "391.43" in line)
    longer = " 8388608    58000            0.00               389.10 \t\t     0.005798"
    assert found(changed(BW, row, f"{row}\n{longer}"))[0] == Measure("rate", 389.1, "Gb/s", WHERE)
    assert found(changed(BW, row, f"{row}\n{longer[:50]}\n five words that follow it"))[0] == RATE
    assert (
        found(changed(changed(BW, "MsgRate[Mpps]", "MsgRate[Mpps]    CPU_Util[%]"), "0.046662", "0.046662\t    3.10"))[
            0
        ]
        == RATE
    )


def test_a_latency_is_the_median_and_by_duration_the_mean() -> None:
    header = " #bytes        #iterations       t_avg[usec]    tps average\n"
    table = f"{header} 2       1842000            2.71           184501.40\n"
    assert found(table)[0] == Measure("rate", 2.71, "us", WHERE)
    times = '"t_typical": 2.70,\n"t_avg": 2.72'
    assert found(changed(JSON, '"BW_average": 391.43', times))[0] == Measure("rate", 2.7, "us", WHERE)
    assert "as the value" in missing(table.replace("2.71", "0.00"))


def test_a_rate_below_the_limit_of_w_is_measured() -> None:
    assert found(changed(BW, "391.43", "201.10"), "Error: BW result is below bw limit\n", 1)[0] == Measure(
        "rate", 201.1, "Gb/s", WHERE
    )


def test_a_servers_exit_code_proves_nothing() -> None:
    assert "server" in missing(SERVER) and "not recognised" in missing(changed(SERVER, "Waiting for client", ""))


@pytest.mark.parametrize(
    ("code", "stderr", "why"),
    [
        (124, "Error: BW result is below bw limit\n", "hung"),
        (1, " Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\n", "smaller MTU"),
        (1, " Failed status-transport retry counter exceeded (12): wr_id 0 syndrom 0x81\n", "smaller MTU"),
        (1, " Failed status 10: wr_id 0 syndrom 0x0\n", "a transfer failed (exit code 1): Failed status 10"),
        (1, "Failed to modify QP 29 to RTR\n", "GID"),
        (1, "Couldn't connect to 10.0.0.2:18518\n", "does not listen"),
        (1, " Did not detect devices \n If device exists, check if driver is up\n", "no RDMA device"),
        (1, " Unsupported memory type\n", "GPU memory"),
        (1, "ib_write_bw: unrecognized option '--bogus'\n", "does not know an option"),
        (1, " Failed to exchange data between server and clients\n", "ended early"),
        (1, "\x1b[31mnew text\n", "not recognised (exit code 1): ?[31mnew text"),
    ],
)
def test_a_failed_test_is_missing_even_with_a_row(code: int, stderr: str, why: str) -> None:
    assert why in missing(BW, stderr, code)
