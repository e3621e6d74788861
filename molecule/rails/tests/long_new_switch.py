# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, on the hosts of this scenario: a leaf is replaced while a job runs on nodes of other leaves.

Then it is replaced again for each task of the run, which is killed in that task. SEED=2 kills at other moments.
"""

from __future__ import annotations

from pathlib import Path

from tests.host_keys import replace
from tests.kills import Kills
from tests.running import Lab, Run

from .test_rails import lab, ports

__all__ = ["lab"]

BEHIND = "gpu[01-02]"
JOB = "#!/bin/sh\nsleep 900\n"


def options(fingerprint: str) -> tuple[str, ...]:
    """Without the consent that the lab's inventory gives."""
    new = ("-e", "replace_switch_name=leaf1", "-e", f"replace_switch_fingerprint={fingerprint}")
    return (*new, "-e", "fabric_switch_may_flap_ports=false")


def configure(lab: Lab, fingerprint: str) -> Run:
    return lab.playbook("replace_switch", *options(fingerprint))


def test_a_new_leaf_is_configured_and_nothing_else_is_contacted(lab: Lab) -> None:
    words = "sbatch --parsable -p hpc -w gpu03 --chdir=/tmp --output=/dev/null"
    job = lab.ssh("login1", f"runuser -u ada -- {words}", stdin=JOB).strip()
    lab.wait("the job runs", lambda: lab.ssh("login1", f"squeue -h -j {job} -o %T").strip() == "RUNNING")
    before = ports(lab, "leaf1")
    fingerprint = replace(lab, "leaf1")
    known = {file: len(calls) for file, calls in lab.journals().items()}

    waits = configure(lab, fingerprint)
    assert waits.code == 0, waits.output
    assert "gpu01 is not drained in Slurm" in str(waits.results())
    lab.ssh("ctl", f"scontrol update nodename={BEHIND} state=drain reason='leaf1 is replaced'")
    made = configure(lab, fingerprint)
    assert made.code == 0, made.output
    assert ports(lab, "leaf1") == before
    again = configure(lab, fingerprint)
    assert (again.code, again.changed()) == (0, []), again.output

    noted = {Path(file).parent.name: calls for file, calls in lab.journals(known).items() if "/switches/" in file}
    assert {name for name, calls in noted.items() if any(it.get("event") == "connect" for it in calls)} == {"leaf1"}
    assert lab.ssh("login1", f"squeue -h -j {job} -o %T").strip() == "RUNNING"
    lab.ssh("login1", f"runuser -u ada -- scancel {job}")
    lab.ssh("ctl", f"scontrol update nodename={BEHIND} state=resume")


def test_a_killed_run_is_finished_by_the_next(lab: Lab) -> None:
    before = ports(lab, "leaf1")
    lab.ssh("ctl", f"scontrol update nodename={BEHIND} state=drain reason='leaf1 is replaced'")
    kills = Kills(lab, "replace_switch")
    fingerprint = ""
    while kills.ahead:
        fingerprint = replace(lab, "leaf1")
        kills.run(*options(fingerprint))
        assert ports(lab, "leaf1") == before
    again = configure(lab, fingerprint)
    assert (again.code, again.changed()) == (0, []), again.output
    lab.ssh("ctl", f"scontrol update nodename={BEHIND} state=resume")


def test_another_key_is_refused_before_the_login(lab: Lab) -> None:
    refused = configure(lab, "SHA256:else")
    assert refused.code == 2, refused.output
    assert "leaf1 offers ssh-ed25519 SHA256:" in str(refused.results())
