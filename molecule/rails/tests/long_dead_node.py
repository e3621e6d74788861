# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, on the hosts of this scenario: a node without power leaves by a consent that names it, and comes back."""

from __future__ import annotations

from tests.running import Lab
from tests.stack import lab as machines

from .test_rails import lab

__all__ = ["lab"]

DEAD = "gpu04"


def members(lab: Lab) -> list[str]:
    rows = lab.ssh("nsd1", "/usr/lpp/mmfs/bin/mmlscluster -Y").splitlines()
    return [row.split(":")[7] for row in rows if ":clusterNode:" in row and ":HEADER:" not in row]


def test_a_lost_node_leaves_by_a_consent_that_names_it(lab: Lab) -> None:
    assert DEAD in members(lab)
    machines("power-cut", DEAD)
    try:
        without = lab.playbook("retire", "-e", f"retire_nodes={DEAD}")
        assert without.code, without.output
        assert DEAD in members(lab)
        other = lab.playbook("retire", "-e", f"retire_nodes={DEAD}", "-e", "retire_dead_nodes=gpu03")
        assert other.code == 2, other.output
        assert "name each dead node in both" in str(other.results())
        gone = lab.playbook("retire", "-e", f"retire_nodes={DEAD}", "-e", f"retire_dead_nodes={DEAD}")
        assert gone.code == 0, gone.output
        assert DEAD not in members(lab)
        told = lab.ssh("ctl", f"sinfo -h -n {DEAD} -o '%T|%E' | sort -u").strip()
        assert told.endswith("|drawbridge: retires")
        again = lab.playbook("retire", "-e", f"retire_nodes={DEAD}", "-e", f"retire_dead_nodes={DEAD}")
        assert (again.code, again.changed()) == (0, []), again.output
    finally:
        machines("up", DEAD)
    lab.wait("it is on again", lambda: lab.ssh(DEAD, "true") == "")
    back = lab.playbook("onboard", "-e", f"onboard_nodes={DEAD}")
    assert back.code == 0, back.output
    assert DEAD in members(lab)
    lab.wait("it takes jobs", lambda: lab.ssh("ctl", f"sinfo -h -n {DEAD} -o %T | sort -u").strip() == "idle", 900)
    words = f"srun -p hpc -w {DEAD} -N1 --gres=gpu:8 -D /tmp hostname -s"
    assert lab.ssh("login1", f"runuser -u ada -- {words}").strip() == DEAD
