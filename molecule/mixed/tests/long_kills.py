# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, on the hosts of this scenario: rolling, retire and rejoin are killed in each of their tasks.

The gated node and the other one take their turns. Each killed run begins with all nodes in service, but for those that
rejoin. KILLS=5 kills each playbook five times, SEED=2 at other moments.
"""

from __future__ import annotations

import time
from pathlib import Path

from tests.host_keys import replace
from tests.kills import Kills

from .test_rolling import CHANGE, Lab, arriving, ended, lab, rolling, unavailable, work

__all__ = ["lab", "work"]

NODES = ("gpu01", "cpu01")
BOTH = ",".join(NODES)
GATED = "gpu01"
PARTITIONS = {"gpu01": "ai-train", "cpu01": "prepare"}
IN_SERVICE = {"idle", "mixed", "allocated", "completing", "planned"}
MARKS = "/var/lib/drawbridge/maintenance"
"""Made by a node's first maintenance."""
HEALTH = "drawbridge: health"
"""The health check of a busy machine drains a node, and lifts that drain itself."""


def in_service(lab: Lab) -> None:
    """Wait until all nodes take jobs. No node is drained by anything but its health check."""
    assert [reason for reason in unavailable(lab).values() if not reason.startswith(HEALTH)] == []
    states = "sinfo -h -N -o %T | sort -u"
    lab.wait("all nodes take jobs", lambda: set(lab.ssh("ctl", states).split()) <= IN_SERVICE, 900)


def closed(lab: Lab) -> bool:
    return lab.kubectl("get", "node", GATED, "-o", "jsonpath={.spec.taints[*].value}").split() == ["closed"]


def test_rolling_is_finished_by_later_runs_and_no_job_is_lost(lab: Lab, work: Path) -> None:
    kills = Kills(lab, "rolling")
    name = ""
    options = ("-e", f"rolling_maintenance_tasks={work}", "-e", "rolling_wave=1", "-e", "rolling_reserve=true")
    with arriving(lab) as jobs:
        while kills.ahead:
            in_service(lab)
            name = f"kills-{time.time():.0f}"
            for node in NODES:
                lab.ssh(node, f"rm -rf {MARKS}")
            kills.run("-e", f"rolling_nodes={BOTH}", "-e", f"rolling_maintenance={name}", *options)
            assert [lab.ssh(node, f"cat {CHANGE}") for node in NODES] == [name] * 2
            assert name not in lab.ssh("ctl", "scontrol show reservation -o")
        in_service(lab)
    assert set(ended(lab, jobs)) == {("COMPLETED", "0")}
    again = rolling(lab, name, *options, nodes=BOTH)
    assert (again.code, again.changed()) == (0, []), again.output


def retired(lab: Lab) -> None:
    """Both nodes have left, and nothing runs on them."""
    reasons = unavailable(lab)
    assert all(reasons.get(node, "").startswith("drawbridge: retires") for node in NODES), reasons
    assert lab.kubectl("get", "node", GATED, "--ignore-not-found") == ""
    kept = "systemctl is-active kubelet slurmd munge drawbridge-gate.timer | grep -x active"
    for node in NODES:
        assert lab.ssh(node, f"{kept}; ls /etc/munge/munge.key 2>/dev/null", check=False) == ""


def rejoined(lab: Lab) -> None:
    """Both nodes are back, and run jobs."""
    in_service(lab)
    assert closed(lab)
    for node, partition in PARTITIONS.items():
        words = f"srun -p {partition} -w {node} -N1 -D /tmp hostname -s"
        assert lab.ssh("login1", f"runuser -u ada -- {words}").strip() == node


def test_retire_and_rejoin_are_finished_by_later_runs(lab: Lab) -> None:
    """The nodes retire, are installed again with new host keys, and come back."""
    retire, rejoin = Kills(lab, "retire"), Kills(lab, "rejoin")
    while retire.ahead or rejoin.ahead:
        in_service(lab)
        lab.wait("the gated node is closed", lambda: closed(lab))
        retire.run("-e", f"retire_nodes={BOTH}")
        retired(lab)
        again = lab.playbook("retire", "-e", f"retire_nodes={BOTH}")
        assert (again.code, again.changed()) == (0, []), again.output

        told = ", ".join(f'"{node}": "{replace(lab, node)}"' for node in NODES)
        options = ("-e", f"rejoin_nodes={BOTH}", "-e", f'{{"rejoin_fingerprints": {{{told}}}}}')
        rejoin.run(*options)
        rejoined(lab)
        again = lab.playbook("rejoin", *options)
        assert (again.code, again.changed()) == (0, []), again.output
