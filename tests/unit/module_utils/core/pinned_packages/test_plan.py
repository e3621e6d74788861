# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.pinned_packages.plan import (
    PinnedState,
    plan,
)

WANT = PinnedState(
    {"kubelet": "1.36.3-1", "containerd": "2.3.5-1"}, frozenset({"kubelet", "containerd"}), "Types: deb\n"
)
WHO = "2026-11-25 by ben: apt upgrade"
BARE = PinnedState({"kubelet": "", "containerd": ""}, frozenset())
OLD = replace(WANT, versions={**WANT.versions, "kubelet": "1.35.4-1"})


@pytest.mark.parametrize(
    ("have", "reasons"),
    [
        (WANT, []),
        (
            BARE,
            ["write the packages' sources", "install kubelet 1.36.3-1, containerd 2.3.5-1", "hold containerd, kubelet"],
        ),
        (OLD, ["install kubelet 1.36.3-1 instead of 1.35.4-1"]),
        (replace(OLD, installed={"kubelet": WHO}), [f"install kubelet 1.36.3-1 instead of 1.35.4-1 ({WHO})"]),
        (replace(WANT, held=frozenset({"containerd"})), ["hold kubelet"]),
        (
            replace(WANT, cut_off=True),
            ["finish an installation that was cut off, and let packages start their services again"],
        ),
    ],
)
def test_only_what_differs_is_done(have: PinnedState, reasons: list[str]) -> None:
    steps = plan(have, WANT)
    assert [step.reason for step in steps] == reasons
    for step in steps:
        have = step.becomes(have)
    assert have == WANT


def test_another_version_waits_for_the_job_and_a_new_package_does_not() -> None:
    assert [step.disturbs for step in plan(OLD, WANT)] == [True]
    assert {step.disturbs for step in plan(BARE, WANT)} == {False}


def test_who_installed_the_other_version_is_no_part_of_what_a_step_is_about() -> None:
    [with_name], [without] = plan(replace(OLD, installed={"kubelet": WHO}), WANT), plan(OLD, WANT)
    assert with_name.about == without.about != ""


def test_unwanted_sources_are_removed() -> None:
    assert [step.reason for step in plan(WANT, replace(WANT, sources=""))] == ["remove the packages' sources"]


def test_lines_name_versions() -> None:
    assert BARE.lines() == ["containerd missing", "kubelet missing"]
    assert WANT.lines()[1:] == ["kubelet 1.36.3-1 held", "    Types: deb"]
