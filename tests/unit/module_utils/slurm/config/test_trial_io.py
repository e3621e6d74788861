# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What surrounds the trial. The trial itself is slurmctld's, and molecule/slurm_controller shows it."""

from __future__ import annotations

import getpass
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.trial_io import Trial

from tests.unit.processes import LIMITS_S, gone

SERVES = "echo 'slurmctld: Running as primary controller'; exec sleep 600"


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    folder = tmp_path / "etc"
    folder.mkdir()
    (folder / "slurm.conf").write_text("ClusterName=old\n")
    (folder / "gres.conf").write_text("old\n")
    (folder / "job_submit.lua").write_text("function\n")
    (folder / "slurmdbd.conf").write_text("StoragePass=secret\n")
    return folder


def judge(etc: Path, script: str, timeout_s: float = 120) -> Path:
    """Let a shell stand for slurmctld; it gets the path of slurm.conf."""
    below = etc.parent / "run"
    below.mkdir(exist_ok=True)
    trial = Trial(timeout_s, ("sh", "-c", script, "sh"), getpass.getuser(), str(below))
    texts = {f"{etc}/slurm.conf": "ClusterName=new\n", f"{etc}/gres.conf": "new\n", "/usr/libexec/x": "script\n"}
    trial.check(f"{etc}/slurm.conf", texts)
    return below


def test_files_with_which_slurmctld_serves_are_good_and_nothing_is_left(etc: Path) -> None:
    below = judge(etc, SERVES)
    assert list(below.iterdir()) == []


def test_slurmctld_sees_the_new_files_beside_the_old_ones_and_no_secret(etc: Path) -> None:
    look = 'cd "${1%/*}"; for f in *; do [ -f $f ] && echo "$f: $(head -n1 $f)"; done'
    with pytest.raises(DeviceError) as caught:
        judge(etc, f"{look} > {etc}/seen; echo fatal: looked")
    assert "looked" in str(caught.value)
    seen = (etc / "seen").read_text().splitlines()
    assert "gres.conf: new" in seen
    assert "slurm.conf: ClusterName=new" in seen
    assert "job_submit.lua: function" in seen
    assert not [line for line in seen if "slurmdbd" in line]


def test_a_refusal_has_slurms_own_errors(etc: Path) -> None:
    with pytest.raises(DeviceError, match="so the old ones stay: Invalid node names in partition zz"):
        judge(etc, "echo slurmctld: fatal: Invalid node names in partition zz >&2; exit 1")
    assert (etc / "slurm.conf").read_text() == "ClusterName=old\n"


def test_a_slurmctld_without_a_verdict_is_ended_with_its_children(etc: Path) -> None:
    child = etc.parent / "child"
    child.touch()
    for limit_s in LIMITS_S:
        with pytest.raises(DeviceError, match="no verdict"):
            judge(etc, f"sleep 600 & echo $! > {child}; wait", limit_s)
        if child.read_text():
            break
    gone(int(child.read_text()))
