# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, on the hosts of this scenario: who brings nodes in a second time changes nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from lab.hosts.paths import REPOSITORY
from tests.growth import grow

from .conftest import Lab
from .test_two_more_nodes import NEW


def test_a_second_onboarding_changes_nothing(lab: Lab, tmp_path: Path) -> None:
    given = (*grow(tmp_path / "more", *NEW), "-e", "onboard_nodes=gpu[05-06]")
    subprocess.run([sys.executable, "lab/lab", "up", *NEW], cwd=REPOSITORY, check=True, capture_output=True)
    first = lab.playbook("onboard", *given)
    assert first.code == 0, first.output
    again = lab.playbook("onboard", *given)
    assert again.code == 0, again.output
    assert (again.changed(), again.steps()) == ([], {})
