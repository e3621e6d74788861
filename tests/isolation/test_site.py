# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The site as production has it: the defaults are in effect, and the second run changes nothing."""

from __future__ import annotations

import pytest

from tests.isolation.node import build, slurm

pytestmark = pytest.mark.live


def test_production_defaults_are_in_effect() -> None:
    config = slurm("scontrol show config")
    for line in ("ProctrackType           = proctrack/cgroup", "TaskPlugin              = task/cgroup,task/affinity"):
        assert line in config


def test_the_second_run_changes_nothing() -> None:
    done = build()
    assert (done.code, done.changed()) == (0, []), done.output
