# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the whole-site tests share: the running lab, and one second run for all who look at it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.counted import Counting, Report
from lab.hosts.paths import Paths
from tests.running import Lab, Run

__all__ = ["Lab", "Run", "SecondRun"]


@pytest.fixture(scope="session")
def counted() -> Path:
    """Where molecule.yml keeps what molecule's own runs cost. Files for the night run without molecule."""
    return Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"]) / "counted"


@pytest.fixture(scope="session")
def lab() -> Lab:
    """The running lab."""
    return Lab(Paths.of())


@dataclass(frozen=True)
class SecondRun:
    """A run over a site that exists: results, files that it touched, calls that emulators noted, what it cost."""

    run: Run
    touched: list[str]
    calls: dict[str, list[dict[str, Any]]]
    report: Report


@pytest.fixture(scope="session")
def second_run(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> SecondRun:
    """One run for all who look at it from different sides."""
    counting = Counting(tmp_path_factory.mktemp("count"))
    counting.prepare()
    # the gate's timer makes tokens anew that are old; it may be at it, and whether it comes to a good end is no matter
    young = "touch /var/lib/drawbridge/gate/*.token; systemctl start drawbridge-gate.service || true"
    for host in ("ctl", "gpu01", "gpu02", "gpu03", "gpu04"):
        lab.ssh(host, young)
    before, known = lab.written(), {file: len(calls) for file, calls in lab.journals().items()}
    run = lab.playbook("site", counting=counting)
    counting.close()
    assert run.code == 0, run.output
    after = lab.written()
    touched = sorted(path for path in after.keys() | before.keys() if after.get(path) != before.get(path))
    return SecondRun(run, touched, lab.journals(known), counting.report("site"))
