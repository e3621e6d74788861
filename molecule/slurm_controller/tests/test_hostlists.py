# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Our hostlists are Slurm's: any list of names and any expression gives what scontrol prints.

HOSTLISTS=10000 tries so many instead of the default.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import hostlist
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.hosts.paths import Paths

PROMPT = b"scontrol: "
COMMAND = ["ssh", "-F", str(Paths.of().ssh_config), "ctl", "env TERM=dumb COLUMNS=32000 scontrol"]


class Scontrol:
    """One scontrol that answers many questions: it prompts, echoes and answers, and an empty answer is a refusal."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._answer()

    def __enter__(self) -> Scontrol:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(b"quit\n", timeout=20)

    def show(self, kind: str, expression: str) -> list[str]:
        """The lines of an answer; none for a refused one."""
        assert self._process.stdin
        self._process.stdin.write(f"show {kind} {expression}\n".encode())
        self._process.stdin.flush()
        return self._answer().splitlines()[1:-1]

    def _answer(self) -> str:
        assert self._process.stdout
        told = b""
        while not told.endswith(PROMPT):
            more = os.read(self._process.stdout.fileno(), 65536)
            assert more, f"scontrol ended after {told!r}"
            told += more
        return told.decode()


@pytest.fixture(scope="module")
def scontrol() -> Iterator[Scontrol]:
    with Scontrol(COMMAND) as process:
        yield process


NUMBERS = st.one_of(st.integers(0, 13), st.sampled_from([98, 99, 100, 101, 998, 999, 1000]))
DIGITS = st.builds(lambda number, width: str(number).zfill(width), NUMBERS, st.integers(0, 4))
PREFIXES = st.sampled_from(["n", "N", "gpu", "n-", "r1n", "r2n", "r10n", "r01n", "r001n", "a1b02c", "a1b2c"])
NAMES = st.one_of(
    st.builds("".join, st.tuples(PREFIXES, DIGITS)),
    st.builds("".join, st.tuples(PREFIXES, DIGITS, st.sampled_from(["-ib", ".example"]))),
    st.sampled_from(["n", "login", "0", "7", "10.0.0.1", "10.0.0.2"]),
)
SPANS = st.builds(lambda low, more: f"{low}-{int(low) + more}", DIGITS, st.integers(0, 12))


def brackets(*items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.one_of(*items), min_size=1, max_size=4).map(lambda some: f"[{','.join(some)}]")


GOOD = brackets(DIGITS, SPANS, st.just("1-010"))
MIXED = brackets(DIGITS, SPANS, st.sampled_from(["", "a", "1-2-3", "-1", "2-1"]))
PARTS = st.one_of(
    NAMES,
    st.just(""),
    st.builds("".join, st.tuples(PREFIXES, MIXED)),
    st.builds("".join, st.tuples(PREFIXES, GOOD, st.sampled_from(["c", "-", ""]), GOOD)),
    # three brackets are good ones: of a part whose first is bad Slurm silently drops this part alone
    st.builds("".join, st.tuples(PREFIXES, GOOD, st.just("x"), GOOD, st.just("y"), GOOD)),
    st.builds("".join, st.tuples(PREFIXES, MIXED, st.just("-ib"))),
)
EXPRESSIONS = st.lists(PARTS, min_size=1, max_size=6).map(",".join).filter(lambda text: text.strip(","))
RUNS = st.builds(
    lambda prefix, low, more: [f"{prefix}{str(int(low) + step).zfill(len(low))}" for step in range(more)],
    PREFIXES,
    DIGITS,
    st.integers(1, 4),
)
LISTS = st.lists(st.one_of(RUNS, NAMES.map(lambda name: [name])), min_size=1, max_size=8).map(
    lambda runs: [name for run in runs for name in run]
)
TRIES = settings(max_examples=int(os.environ.get("HOSTLISTS", "100")), deadline=None)


def expanded(expression: str) -> list[str]:
    try:
        return hostlist.expand(expression)
    except hostlist.HostlistError:
        return []


@TRIES
@given(expression=EXPRESSIONS)
def test_expanded_as_scontrol_does(scontrol: Scontrol, expression: str) -> None:
    assert scontrol.show("hostnames", expression) == expanded(expression)


@TRIES
@given(names=LISTS)
def test_compressed_and_sorted_as_scontrol_does(scontrol: Scontrol, names: list[str]) -> None:
    assert scontrol.show("hostlist", ",".join(names)) == [hostlist.compress(names)]
    (told,) = scontrol.show("hostlistsorted", ",".join(names))
    # Slurm itself loses some doubled names whose padding differs
    if sorted(hostlist.expand(told)) == sorted(names):
        assert told == hostlist.in_order(names)


@pytest.mark.parametrize("expression", ["n[1-", "n[2-1]", "n[0-65536]", "n[a]", "n[]"])
def test_scontrol_refuses_what_we_refuse(scontrol: Scontrol, expression: str) -> None:
    assert scontrol.show("hostnames", expression) == []
    with pytest.raises(hostlist.HostlistError, match=re.escape(expression)):
        hostlist.expand(expression)
