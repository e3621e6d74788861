# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.directories.model import (
    Directory,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.directories.plan import (
    Directories,
    above,
    plan,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.owned import (
    CLOSED,
    OTHER,
    PARENT,
    Owned,
)

ONE = Directory("/fs1/projects/vision", "/fs1", group="vision")
OWN = Owned("root", "vision", "2770")
READY = {"/fs1/projects": PARENT, ONE.path: OWN}


def steps(found: dict[str, Owned], *directories: Directory, unknown: str = "") -> list[str]:
    have = Directories(found, {ONE.path: unknown} if unknown else {})
    return [f"{step.reason} | {step.pending or step.refused}" for step in plan(have, have, directories or (ONE,))]


def test_folders_between_the_mount_point_and_the_directory_are_above_it() -> None:
    assert above(ONE) == ["/fs1/projects"]
    assert above(replace(ONE, path="/fs1/a/b/c")) == ["/fs1/a", "/fs1/a/b"]
    assert above(replace(ONE, path="/fs1/a")) == []


def test_the_folder_above_comes_first_and_once() -> None:
    other = replace(ONE, path="/fs1/projects/speech", group="speech")
    assert steps({}, ONE, other) == [
        "make /fs1/projects: root:root 0755 | ",
        "make /fs1/projects/vision: root:vision 2770 | ",
        "make /fs1/projects/speech: root:speech 2770 | ",
    ]


def test_nothing_is_left_to_do_where_all_is_right() -> None:
    assert steps(READY) == []
    assert steps(READY, replace(ONE, mode="2770")) == []


@pytest.mark.parametrize(
    "found", [Owned("ada", "vision", "2770"), Owned("root", "root", "2770"), Owned("root", "vision", "2777")]
)
def test_another_owner_group_or_mode_is_set_back(found: Owned) -> None:
    [step] = steps({**READY, ONE.path: found})
    assert step == f"set {ONE.path}: root:vision 2770 instead of {found} | "


@pytest.mark.parametrize(
    "found", [Owned("ada", "root", "0755"), Owned("root", "root", "0777"), Owned("root", "vision", "2775")]
)
def test_a_folder_above_that_others_may_write_is_for_a_person(found: Owned) -> None:
    [step] = steps({**READY, "/fs1/projects": found})
    assert "so others could replace directories of projects; run `chown root /fs1/projects`" in step


@pytest.mark.parametrize("path", READY)
def test_a_link_or_a_file_is_never_changed(path: str) -> None:
    [step] = steps({**READY, path: OTHER})
    assert step == f"use {path} | {path} is no directory; move it away"


def test_a_closed_directory_is_roots_and_opens_again() -> None:
    closed = replace(ONE, closed=True)
    assert steps(READY, closed) == [f"close {ONE.path}: root:root 0500 instead of root:vision 2770 | "]
    assert steps({**READY, ONE.path: CLOSED}, closed) == []
    assert steps({**READY, ONE.path: CLOSED}) == [f"set {ONE.path}: root:vision 2770 instead of root:root 0500 | "]


def test_a_group_that_the_host_does_not_know_makes_its_directory_wait() -> None:
    assert steps({}, unknown="group vision is unknown")[1].endswith("| group vision is unknown")
    other = {**READY, ONE.path: Owned("ada", "vision", "2770")}
    assert steps(other, unknown="group vision is unknown")[0].endswith("| group vision is unknown")
