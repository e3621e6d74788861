# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.roles.slurm_gate.cluster import JOB, Made, world


@pytest.fixture
def at(tmp_path: Path) -> Made:
    """A world with two closed nodes and one job of Slurm's."""
    return world(tmp_path)


@pytest.fixture
def opened(at: Made) -> Made:
    """The same, after the job's nodes were opened."""
    from roles.slurm_gate.files.gate.opener import open_job

    open_job(JOB, at)
    at.cluster.log.clear()
    at.log.lines.clear()
    return at
