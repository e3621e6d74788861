# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks import collect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.watch_rates import (
    COUNTERS,
    LIMITS,
    RATE_CHECKS,
    sample,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Missing,
    Remark,
)

from tests.unit.module_utils.proof.checks.healthy import NODE

[CHECK] = RATE_CHECKS
PORT, NET = "/sys/class/infiniband/mlx5_1/ports/1", "/sys/class/net/rail1"
PATHS = [path for path in CHECK.files(NODE) if path.startswith("/sys")]
BOOT = "/proc/sys/kernel/random/boot_id"
LINK, SYMBOLS, CARRIER = (f"{PORT}/counters/link_downed", f"{PORT}/counters/symbol_error", f"{NET}/carrier_changes")


def texts(at: float, counts: Mapping[str, int] | None = None, kept: str = "", boot: str = "b1") -> dict[str, str]:
    """Files at this time, with counters of 7 where `counts` has no other."""
    files = {**{path: f"{(counts or {}).get(path, 7)}\n" for path in PATHS}, "/proc/uptime": f"{at} 9.9\n"}
    return {**files, BOOT: f"{boot}\n", **({COUNTERS: kept} if kept else {})}


def found(files: Mapping[str, str]) -> list[Found]:
    [(_check, result)] = collect.results([CHECK], NODE, [], files)
    return result


def after(seconds: float, name: str, rise: int) -> list[Found]:
    """The finding about one counter of rail 1."""
    return found(texts(1000 + seconds, {_path(name): 7 + rise}, sample(texts(1000))))


def _path(name: str) -> str:
    return CARRIER if name == "carrier_changes" else f"{PORT}/{name}"


def test_each_rail_has_all_counters_and_those_that_are_harmless_are_not_read() -> None:
    assert len(PATHS) == 2 * len(LIMITS) and {*map(_path, LIMITS)} <= {*PATHS}
    harmless = ("implied_nak_seq_err", "out_of_sequence", "packet_seq_err", "retries_exceeded", "rx_crc_errors")
    assert not [path for path in PATHS if path.endswith(harmless)]


def test_without_an_earlier_sample_of_this_boot_nothing_is_found() -> None:
    high = {LINK: 99, SYMBOLS: 99_999}
    assert found(texts(9000, high)) == []
    assert found(texts(9000, high, sample(texts(100, boot="b0")))) == []
    for other in (
        "",
        "[]",
        "{",
        "null",
        '{"boot": "b1"}',
        '{"boot": "b1", "samples": [1]}',
        '{"boot": "b1", "samples": [["x", {}]]}',
    ):
        assert found(texts(9000, high, other)) == []
    assert found({**texts(9000, high, sample(texts(100))), "/proc/uptime": "?"}) == []
    assert found({COUNTERS: sample(texts(100))}) == []


def test_counters_that_stay_have_no_finding() -> None:
    assert found(texts(1300, kept=sample(texts(1000)))) == []


@pytest.mark.parametrize(
    ("name", "seconds", "within", "beyond", "words"),
    [
        ("counters/link_downed", 300, 0, 1, "link_downed rose by 1 in 300 s, at most 0"),
        ("counters/excessive_buffer_overrun_errors", 300, 0, 1, "at most 0"),
        ("counters/local_link_integrity_errors", 300, 0, 1, "at most 0"),
        ("counters/symbol_error", 300, 120, 121, "symbol_error rose by 121 in 300 s, at most 120 an hour"),
        ("counters/symbol_error", 7200, 240, 241, "rose by 241 in 7200 s"),
        ("counters/link_error_recovery", 30, 5, 6, "at most 5 a minute"),
        ("counters/link_error_recovery", 300, 25, 26, "rose by 26 in 300 s"),
        ("counters/port_rcv_errors", 300, 3000, 3001, "at most 10 a second"),
        ("carrier_changes", 300, 2, 3, "carrier_changes rose by 3 in 300 s, at most 2"),
    ],
)
def test_counters_of_a_link_are_findings_beyond_their_limits(
    name: str, seconds: int, within: int, beyond: int, words: str
) -> None:
    assert after(seconds, name, within) == []
    [one] = after(seconds, name, beyond)
    assert isinstance(one, Remark) and words in one.why
    assert (one.name, one.where, one.warning, one.ends) == ("rail rates", "gpu01 rail1", False, "")


@pytest.mark.parametrize(
    ("name", "within"),
    [
        ("counters/port_xmit_discards", 30_000),
        ("hw_counters/local_ack_timeout_err", 300),
        ("hw_counters/roce_slow_restart", 3000),
        ("hw_counters/rnr_nak_retry_err", 0),
    ],
)
def test_counters_that_others_may_raise_only_warn(name: str, within: int) -> None:
    assert after(300, name, within) == []
    [one] = after(300, name, within + 1)
    assert isinstance(one, Remark) and one.warning


def test_a_rail_has_one_finding_for_all_its_counters() -> None:
    kept = sample(texts(1000))
    [one] = found(texts(1300, {LINK: 8, CARRIER: 11}, kept))
    assert isinstance(one, Remark)
    assert one.why == "link_downed rose by 1 in 300 s, at most 0, carrier_changes rose by 4 in 300 s, at most 2"


def test_a_reset_counter_a_short_time_and_a_new_counter_find_nothing() -> None:
    kept = sample(texts(1000))
    assert found(texts(1300, {LINK: 0}, kept)) == []
    assert found(texts(1029.9, {LINK: 99}, kept)) == [] and found(texts(1030, {LINK: 99}, kept)) != []
    before = {path: text for path, text in texts(1000).items() if path != LINK}
    assert found(texts(1300, {LINK: 99}, sample(before))) == []


def test_a_counter_in_another_form_is_missing_and_one_that_is_absent_is_not() -> None:
    files = texts(1300, kept=sample(texts(1000)))
    [one] = found({**files, LINK: "N/A\n"})
    assert isinstance(one, Missing) and one.why == f"not recognised: {LINK} has N/A"
    assert found({path: text for path, text in files.items() if "hw_counters" not in path}) == []


def test_symbols_are_counted_over_an_hour_although_each_look_leaves_a_sample() -> None:
    """Ten in each five minutes are the limit, eleven are beyond it: no look alone shows that."""
    for each, beyond in ((10, False), (11, True)):
        kept, seen = "", False
        for look in range(40):
            files = texts(1000 + 300 * look, {SYMBOLS: 7 + each * look}, kept)
            seen = seen or found(files) != []
            kept = sample(files)
        assert seen is beyond


def test_a_sample_is_small_and_keeps_what_a_hasty_look_must_not_forget() -> None:
    first = sample(texts(1000))
    assert sample(texts(1010, {LINK: 8}, first)) == first
    second = sample(texts(1300, {LINK: 8}, first))
    assert [at for at, _counts in json.loads(second)["samples"]] == [1000, 1300]
    later = sample(texts(4700, {LINK: 8}, second))
    assert [at for at, _counts in json.loads(later)["samples"]] == [1300, 4700]
    assert [at for at, _counts in json.loads(sample(texts(9000, kept=later)))["samples"]] == [9000, 9000]
    assert len(json.loads(later)["samples"][0][1]) == len(PATHS)


def test_there_is_no_sample_without_a_time() -> None:
    assert sample({}) == sample({**texts(1000), "/proc/uptime": ""}) == sample({**texts(1000), BOOT: ""}) == ""
