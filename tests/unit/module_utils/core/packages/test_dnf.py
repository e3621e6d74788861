# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.packages.dnf import Packages
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.packages.plan import (
    PackageState,
    plan,
)

from tests.unit.module_utils.answers import Answers

# as rpm words it: its exit code is the number of such lines
ONE_OF_TWO = "munge\npackage slurm-slurmd-ohpc is not installed\n"
WANTED = ("munge", "slurm-slurmd-ohpc")


def test_only_missing_packages_are_installed_and_no_weak_dependencies() -> None:
    answers = Answers({"rpm --query": ONE_OF_TWO, "dnf": ""})
    device = Packages(answers, WANTED)
    assert device.read() == PackageState(frozenset({"munge"}))
    answers.asked.clear()
    device.apply(plan(device.read(), PackageState(frozenset(WANTED))))
    assert answers.asked[1:] == ["dnf --assumeyes --quiet --setopt=install_weak_deps=False install slurm-slurmd-ohpc"]
