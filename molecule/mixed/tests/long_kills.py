# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, on the hosts of this scenario: rolling, retire and rejoin are killed in each of their tasks.

The gated node and the other one take their turns. SEED=2 kills at other moments.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.host_keys import replace
from tests.kills import killed_everywhere

from .test_rolling import CHANGE, Lab, arriving, ended, lab, rolling, unavailable, work

__all__ = ["lab", "work"]

NODES = ("gpu01", "cpu01")
BOTH = ",".join(NODES)
GATED = "gpu01"


def test_rolling_is_finished_by_later_runs_and_no_job_is_lost(lab: Lab, work: Path) -> None:
    name = f"kills-{work.parent.name}"
    options = ("-e", f"maintenance={name}", "-e", f"maintenance_tasks={work}", "-e", "wave=1", "-e", "reserve=true")
    with arriving(lab) as jobs:
        killed = killed_everywhere(lab, "rolling", "-e", f"nodes={BOTH}", *options)
    assert "Mark the node" in killed
    assert [lab.ssh(node, f"cat {CHANGE}") for node in NODES] == [name] * 2
    assert unavailable(lab) == {}
    assert set(ended(lab, jobs)) == {("COMPLETED", "0")}
    again = rolling(lab, name, *options, nodes=BOTH)
    assert (again.code, again.changed()) == (0, []), again.output


def test_retire_is_finished_by_later_runs(lab: Lab) -> None:
    killed = killed_everywhere(lab, "retire", "-e", f"nodes={BOTH}")
    assert any("Take this node out of Slurm" in task for task in killed)
    assert set(unavailable(lab).values()) == {"drawbridge: retires"}
    assert set(unavailable(lab)) == set(NODES)
    assert lab.kubectl("get", "node", GATED, "--ignore-not-found") == ""
    for node in NODES:
        assert lab.ssh(node, "systemctl is-active slurmd munge; ls /etc/munge/munge.key", check=False).split() == [
            "inactive",
            "inactive",
        ]
    again = lab.playbook("retire", "-e", f"nodes={BOTH}")
    assert (again.code, again.changed()) == (0, []), again.output


def test_rejoin_is_finished_by_later_runs(lab: Lab) -> None:
    """The retired nodes are installed again. Both are gone from Slurm's service, and one from Kubernetes."""
    fingerprints = {node: replace(lab, node) for node in NODES}
    told = "{" + ", ".join(f'"{node}": "{key}"' for node, key in fingerprints.items()) + "}"
    options = ("-e", f"nodes={BOTH}", "-e", f'{{"fingerprints": {told}}}')
    killed = killed_everywhere(lab, "rejoin", *options)
    assert "Trust the key with the fingerprint" in killed
    assert unavailable(lab) == {}
    taints = lab.kubectl("get", "node", GATED, "-o", "jsonpath={.spec.taints[*].value}")
    assert taints.split() == ["closed"]
    again = lab.playbook("rejoin", *options)
    assert (again.code, again.changed()) == (0, []), again.output


@pytest.mark.parametrize("partition", ["ai-train", "prepare"])
def test_jobs_run_on_the_nodes_that_came_back(lab: Lab, partition: str) -> None:
    node = {"ai-train": GATED, "prepare": "cpu01"}[partition]
    words = f"srun -p {partition} -w {node} -N1 -D /tmp hostname -s"
    assert lab.ssh("login1", f"runuser -u ada -- {words}").strip() == node
