# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesets.model import (
    Consents,
    Fileset,
    FilesetsState,
    comment_of,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesets.plan import (
    DELETE,
    TOP,
    plan,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.owned import CLOSED, Owned
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.module_utils.steps import after

NAMES = ("a", "b", "c")
FREE = Consents("fs1", frozenset(NAMES), frozenset(NAMES))
NONE = Consents("fs1")
OPEN = Owned("root", "vision", "2770")
WANT = Fileset(comment_of("a"), "/fs/p/a", top=OPEN)
DONE = FilesetsState({"a": WANT}, frozenset({"/fs/p"}))


def filesets(name: str) -> st.SearchStrategy[Fileset]:
    """Any that mmlsfileset may list."""
    own = st.sampled_from([comment_of(name), comment_of(name, "x"), "theirs", ""])
    numbers = st.sampled_from([0, 1000, 2000])
    found = st.builds(
        Fileset, own, st.sampled_from(["", f"/fs/p/{name}", "/fs/else"]), numbers, numbers, st.none() | st.just(CLOSED)
    )
    words = st.sampled_from(["", "", "", "Deleting", "Strange"])
    return st.builds(
        lambda it, status, users, dependent: replace(
            it,
            top=it.top if it.junction else None,
            status=status,
            users=users,
            dependent=dependent,
            inodes=0 if dependent else it.inodes,
        ),
        *(found, words, st.sampled_from(["", "bash (12) use it"]), st.booleans()),
    )


def wishes(name: str) -> st.SearchStrategy[Fileset | None]:
    linked = st.builds(
        Fileset,
        *(st.sampled_from([comment_of(name), comment_of(name, "y")]), st.just(f"/fs/p/{name}")),
        *(st.sampled_from([0, 1000]), st.just(0), st.sampled_from([OPEN, CLOSED])),
        unknown=st.sampled_from(["", "group vision is unknown"]),
    )
    return st.none() | st.just(Fileset(comment_of(name))) | linked


HAVE = st.fixed_dictionaries({name: st.none() | filesets(name) for name in NAMES}).map(FilesetsState)
WISHED = st.fixed_dictionaries({name: wishes(name) for name in NAMES}).map(
    lambda it: FilesetsState(it, frozenset({"/fs/p"}))
)


@given(have=HAVE, want=WISHED)
def test_from_anywhere_the_steps_end_where_only_a_persons_part_is_left(
    have: FilesetsState, want: FilesetsState
) -> None:
    steps = plan(have, want, FREE)
    possible = [step for step in steps if not step.pending and not step.refused]
    left = plan(after(possible, have), want, FREE)
    assert [step.reason for step in left if not step.pending and not step.refused] == []


@given(have=HAVE, want=WISHED, delete=st.frozensets(st.sampled_from(NAMES)))
def test_only_what_a_consent_names_is_deleted(have: FilesetsState, want: FilesetsState, delete: frozenset[str]) -> None:
    steps = plan(have, want, replace(FREE, delete=delete))
    deleted = {
        step.payload.name for step in steps if step.payload.verb == DELETE and not step.refused and not step.pending
    }
    assert deleted <= delete & {name for name, it in want.filesets.items() if it is None}
    for name in deleted:
        it = have.filesets[name]
        assert it and not (it.users and it.junction and not it.status)


@given(have=HAVE, want=WISHED)
def test_filesets_of_others_are_not_touched(have: FilesetsState, want: FilesetsState) -> None:
    others = {name for name, it in have.filesets.items() if it and it.comment in ("theirs", "")}
    steps = [step for step in plan(have, want, replace(NONE, delete=frozenset(NAMES))) if step.payload.name in others]
    assert {step.payload.verb for step in steps} <= {""} and all(step.refused for step in steps)


@given(want=WISHED)
def test_at_the_end_nothing_is_left(want: FilesetsState) -> None:
    assert plan(FilesetsState(want.filesets, want.parents), want, NONE) == []


@pytest.mark.parametrize(
    ("have", "reasons"),
    [
        (
            None,
            [
                "make directory /fs/p",
                "create fileset a",
                "link fileset a at /fs/p/a",
                "give /fs/p/a to root:vision 2770",
            ],
        ),
        # a run that was cut off after each of its commands
        (
            Fileset(WANT.comment),
            ["make directory /fs/p", "link fileset a at /fs/p/a", "give /fs/p/a to root:vision 2770"],
        ),
        (replace(WANT, top=Owned()), ["give /fs/p/a to root:vision 2770"]),
        (replace(WANT, top=CLOSED), ["give /fs/p/a to root:vision 2770"]),
        (WANT, []),
    ],
)
def test_a_project_is_made_from_anywhere(have: Fileset | None, reasons: list[str]) -> None:
    assert [step.reason for step in plan(FilesetsState({"a": have}), DONE, NONE)] == reasons


def test_a_closed_one_is_roots() -> None:
    closed = replace(DONE, filesets={"a": replace(WANT, top=CLOSED)})
    [step] = plan(DONE, closed, NONE)
    assert step.reason == "give /fs/p/a to root:root 0500, instead of root:vision 2770"


def test_an_owner_without_a_number_waits() -> None:
    waiting = replace(DONE, filesets={"a": replace(WANT, unknown="group vision is unknown")})
    steps = plan(FilesetsState({"a": None}), waiting, NONE)
    assert [step.pending for step in steps if step.payload.verb == TOP] == ["group vision is unknown"]


def test_another_junction_is_a_persons_decision() -> None:
    [step] = plan(FilesetsState({"a": replace(WANT, junction="/fs/old")}), DONE, NONE)
    assert "`mmunlinkfileset fs1 a` and `mmlinkfileset fs1 a -J /fs/p/a`" in step.refused


def test_something_else_at_the_junction_is_refused() -> None:
    hurdles = {"a": "fileset a can't be linked"}
    steps = plan(FilesetsState({"a": None}, hurdles=hurdles), DONE, NONE)
    assert [step.refused for step in steps if step.refused] == ["fileset a can't be linked"]


def test_nothing_is_made_where_limits_have_no_effect() -> None:
    have = FilesetsState({"a": None}, faults=("no quotas",))
    assert [step.refused for step in plan(have, DONE, NONE)][-1] == "no quotas"
    assert plan(replace(DONE, faults=("no quotas",)), DONE, NONE) == []


@pytest.mark.parametrize(
    ("have", "want", "reason"),
    [
        ((1000, 500), (2000, 0), "raise the inodes of fileset a from 1,000 with 500 allocated to 2,000 with 500"),
        ((1000, 500), (1000, 800), "raise the inodes of fileset a from 1,000 with 500 allocated to 1,000 with 800"),
        ((3000, 500), (2000, 800), "raise the inodes of fileset a from 3,000 with 500 allocated to 3,000 with 800"),
    ],
)
def test_inodes_grow(have: tuple[int, int], want: tuple[int, int], reason: str) -> None:
    a, b = (replace(WANT, inodes=it[0], allocated=it[1]) for it in (have, want))
    [step] = plan(replace(DONE, filesets={"a": a}), replace(DONE, filesets={"a": b}), NONE)
    assert (step.reason, step.pending) == (reason, "")
    assert step.payload.fileset.inodes >= have[0] and step.payload.fileset.allocated >= have[1]


def test_inodes_never_shrink() -> None:
    [step] = plan(
        replace(DONE, filesets={"a": replace(WANT, inodes=9_000_000)}),
        replace(DONE, filesets={"a": replace(WANT, inodes=1000)}),
        NONE,
    )
    assert "GPFS has 9,000,000 for it, and Drawbridge never lowers that number" in step.pending


def test_a_deletion_that_was_cut_off_is_ended_or_refused() -> None:
    half = FilesetsState({"a": Fileset(WANT.comment, status="Deleting")})
    [step] = plan(half, FilesetsState({"a": None}), FREE)
    assert step.payload.verb == DELETE and not step.refused
    [step] = plan(half, FilesetsState({"a": None}), NONE)
    assert "deletes their data permanently: a" in step.refused
    [step] = plan(half, DONE, FREE)
    assert "complete it with `mmdelfileset fs1 a -f`" in step.refused


def test_ten_thousand_projects_take_no_longer_than_a_moment() -> None:
    names = [f"p{number}" for number in range(10_000)]
    want = FilesetsState({it: Fileset(comment_of(it), f"/fs/{it}", top=OPEN) for it in names})
    assert plan(want, want, NONE) == []
    assert len(plan(FilesetsState({}), want, NONE)) == 30_000
