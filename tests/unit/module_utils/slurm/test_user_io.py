# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pwd
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.packages.dnf import Packages
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.packages.plan import (
    PackageState,
    plan,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.user_io import WithUser

from tests.unit.module_utils.answers import Answers

WANT = PackageState(frozenset({"munge"}), user_id=64030)
Known = Callable[[int], None]


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Known:
    """The number that the system has for the user slurm."""

    def answer(number: int) -> None:
        def user(_name: str) -> SimpleNamespace:
            if not number:
                raise KeyError("slurm")
            return SimpleNamespace(pw_uid=number)

        monkeypatch.setattr(pwd, "getpwnam", user)

    return answer


def device(installed: str = "") -> tuple[WithUser, Answers]:
    answers = Answers({"rpm --query": installed, "dnf": "", "groupadd": "", "useradd": ""})
    return WithUser(Packages(answers, ["munge"]), answers), answers


def test_the_user_comes_before_the_packages_that_need_it(known: Known) -> None:
    known(0)
    packages, answers = device()
    packages.apply(plan(packages.read(), WANT))
    assert [asked.split()[0] for asked in answers.asked] == ["rpm", "groupadd", "useradd", "dnf"]
    assert answers.asked[1] == "groupadd --system --gid 64030 slurm"
    assert "--uid 64030 --gid 64030" in answers.asked[2]


def test_an_existing_user_is_only_read(known: Known) -> None:
    known(64030)
    packages, _ = device("munge\n")
    assert plan(packages.read(), WANT) == []


def test_another_number_is_for_a_person_to_change(known: Known) -> None:
    known(995)
    packages, _ = device("munge\n")
    (step,) = plan(packages.read(), WANT)
    assert "user slurm is 995" in step.pending
