# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import hostlist
from hypothesis import given
from hypothesis import strategies as st

# As `scontrol show hostlist` of Slurm 24.11 prints them.
COMPRESSED = [
    ("n3,n2,n1", "n[3,2,1]"),
    ("n2,n1,n3", "n[2,1,3]"),
    ("n9,n10", "n[9-10]"),
    ("n09,n10", "n[09-10]"),
    ("n99,n100", "n[99-100]"),
    ("n1,n02,n3", "n[1,02,3]"),
    ("n01,n1", "n[01,1]"),
    ("n1,n1", "n[1,1]"),
    ("n1,n2,n1", "n[1-2,1]"),
    ("n001,n002,n1000", "n[001-002,1000]"),
    ("n0999,n1000", "n[0999-1000]"),
    ("r1n1,r1n2,r2n1,r2n2", "r1n[1-2],r2n[1-2]"),
    ("r1n1,r2n1,r1n2,r2n2", "r1n1,r2n1,r1n2,r2n2"),
    ("n[1-3]-ib", "n1-ib,n2-ib,n3-ib"),
    ("n1,login,n2", "n1,login,n2"),
    ("n,n1", "n,n1"),
    ("n0,n00,n000", "n[0,00,000]"),
    ("1,2,3", "[1-3]"),
    ("10.0.0.1,10.0.0.2", "10.0.0.[1-2]"),
    ("n[4-6],n[1-3]", "n[4-6,1-3]"),
    ("n[1-3,2-4]", "n[1-3,2-4]"),
    ("n1,,n2", "n[1-2]"),
]


@pytest.mark.parametrize(("given_", "printed"), COMPRESSED)
def test_compresses_as_slurm_does(given_: str, printed: str) -> None:
    assert hostlist.compress(hostlist.expand(given_)) == printed


# As `scontrol show hostlistsorted` of Slurm 24.11 prints them.
SORTED = [
    ("n10,n9,n010", "n[9-10,010]"),
    ("n001,n02,n3", "n[3,02,001]"),
    ("r10n1,r2n1,r1n1", "r1n1,r2n1,r10n1"),
    ("r1n1,r01n1,r001n1", "r001n1,r01n1,r1n1"),
    ("n1,n", "n,n1"),
    ("n1,N1", "N1,n1"),
    ("n1,n2,n1", "n[1,1-2]"),
    ("n[1-3,2-4]", "n[1-2,2-3,3-4]"),
    ("n[1-5,2-4]", "n[1-2,2-3,3-4,4-5]"),
    ("b2,b10,b2,b0,b1,b3,b0,A12", "A12,b[0,0-2,2-3,10]"),
]


@pytest.mark.parametrize(("given_", "printed"), SORTED)
def test_sorts_as_slurm_does(given_: str, printed: str) -> None:
    assert hostlist.in_order(hostlist.expand(given_)) == printed


def test_last_bracket_runs_fastest_then_the_first() -> None:
    assert hostlist.expand("r[1-2]c[1-2]n[1-2]")[:5] == ["r1c1n1", "r1c1n2", "r2c1n1", "r2c1n2", "r1c2n1"]
    assert hostlist.expand("n[1-2][01-02]") == ["n101", "n102", "n201", "n202"]


def test_width_is_that_of_the_low_end() -> None:
    assert hostlist.expand("n[1-010]") == [f"n{number}" for number in range(1, 11)]
    assert hostlist.expand("gpu[08-10] login") == ["gpu08", "gpu09", "gpu10", "login"]


@pytest.mark.parametrize("bad", ["n[2-1]", "n[a]", "n[]", "n[-1]", "n[1-2-3]", "n[1 ,2]", "n[1-", "n]1", "n[[1]]"])
def test_refuses_a_malformed_hostlist(bad: str) -> None:
    with pytest.raises(hostlist.HostlistError, match=r"has"):
        hostlist.expand(bad)


def test_refuses_a_range_that_slurm_calls_too_many_hosts() -> None:
    assert len(hostlist.expand("n[1-65536]")) == 65536
    with pytest.raises(hostlist.HostlistError, match="more than 65536"):
        hostlist.expand("n[0-65536]")


NAMES = st.lists(st.from_regex(r"\A[a-c]{0,2}[0-9]{0,3}(-ib)?\Z").filter(bool), max_size=12)


@given(NAMES)
def test_compressing_and_sorting_keep_every_name(names: list[str]) -> None:
    assert hostlist.expand(hostlist.compress(names)) == names
    assert sorted(hostlist.expand(hostlist.in_order(names))) == sorted(names)


NUMBER = st.integers(0, 120).flatmap(lambda n: st.sampled_from([str(n), f"{n:02d}", f"{n:03d}"]))
RANGE = st.tuples(NUMBER, st.integers(0, 3)).map(lambda r: f"{r[0]}-{int(r[0]) + r[1]}" if r[1] else r[0])
BRACKET = st.lists(RANGE, min_size=1, max_size=2).map(lambda ranges: f"[{','.join(ranges)}]")
TEXT = st.sampled_from(["", "a", "b-", "1", "n2", "0x", "x0"])
PART = st.lists(st.tuples(TEXT, BRACKET).map("".join), min_size=1, max_size=3).flatmap(
    lambda pieces: TEXT.map(lambda tail: "".join(pieces) + tail)
)
EXPRESSION = st.lists(PART | st.sampled_from(["login", "n1"]), min_size=1, max_size=2).map(",".join)


@given(EXPRESSION, st.data())
def test_counting_and_looking_up_agree_with_expanding(expression: str, data: st.DataObject) -> None:
    names = hostlist.expand(expression)
    assert hostlist.count(expression) == len(names)
    name = data.draw(st.sampled_from(names))
    assert hostlist.contains(expression, name)
    for near in (f"{name}0", f"0{name}", name[:-1], name.replace("0", "", 1), name.replace("1", "2"), name.upper()):
        assert hostlist.contains(expression, near) == (near in names)


def test_looking_up_refuses_what_expanding_refuses_even_behind_the_name() -> None:
    with pytest.raises(hostlist.HostlistError, match="runs backwards"):
        hostlist.contains("n1,n[2-1]", "n1")
    with pytest.raises(hostlist.HostlistError, match="runs backwards"):
        hostlist.count("n[2-1]")


def test_sorting_keeps_names_that_slurm_loses() -> None:
    names = hostlist.expand("n0000,n[998-1000],n[998-1000]")
    assert hostlist.in_order(names) == "n[998,998-999,999-1000,1000,0000]"
