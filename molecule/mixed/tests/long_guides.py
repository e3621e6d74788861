# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, on the hosts of this scenario: commands of the guides that no other test runs.

The site reserves a node itself before its maintenance, and a node leaves the intent after it retired.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
import yaml

from lab.hosts.paths import REPOSITORY, Paths

from .long_kills import in_service
from .test_mixed import INVENTORY
from .test_rolling import Lab, lab, rolling

__all__ = ["lab"]

LEAVES = "gpu02"


def boot(lab: Lab, node: str) -> str:
    return lab.ssh(node, "cat /proc/sys/kernel/random/boot_id")


def test_a_node_in_the_sites_own_reservation_is_maintained(lab: Lab) -> None:
    """Both nodes of the partition are reserved, which counts for no limit."""
    name = f"reserved-{time.time():.0f}"
    in_service(lab)
    times = f"starttime=now duration=04:00:00 reservationname={name}"
    lab.ssh("ctl", f"scontrol create reservation {times} flags=maint,ignore_jobs user=root nodes=cpu[01-02]")
    before = boot(lab, "cpu01")
    predicted = rolling(lab, name, "-e", "rolling_what=reboot", "--check", nodes="cpu01")
    assert predicted.code == 0, predicted.output
    assert boot(lab, "cpu01") == before
    done = rolling(lab, name, "-e", "rolling_what=reboot", nodes="cpu01")
    assert done.code == 0, done.output
    assert boot(lab, "cpu01") != before
    lab.ssh("ctl", f"scontrol delete reservationname={name}")
    in_service(lab)


@pytest.fixture
def smaller(tmp_path: Path) -> Lab:
    """The site without the node that leaves."""
    folder = tmp_path / "smaller"
    shutil.copytree(REPOSITORY / INVENTORY, folder)
    intent = folder / "group_vars/all"
    nodes = yaml.safe_load((intent / "nodes.yml").read_text())
    nodes["drawbridge_nodes"]["ranges"][0]["names"] = "gpu01"
    (intent / "nodes.yml").write_text(yaml.safe_dump(nodes))
    slurm = yaml.safe_load((intent / "slurm.yml").read_text())
    slurm["drawbridge_slurm"]["partitions"][0]["nodes"] = "gpu01"
    (intent / "slurm.yml").write_text(yaml.safe_dump(slurm))
    hosts = yaml.safe_load((folder / "hosts.yml").read_text())
    del hosts["all"]["children"]["nodes"]["children"]["gpu"]["hosts"][LEAVES]
    (folder / "hosts.yml").write_text(yaml.safe_dump(hosts))
    return Lab(Paths.of(), (str(folder),))


def test_a_retired_node_leaves_the_intent_and_comes_back(lab: Lab, smaller: Lab) -> None:
    in_service(lab)
    gone = lab.playbook("retire", "-e", f"retire_nodes={LEAVES}")
    assert gone.code == 0, gone.output
    lab.kubectl("delete", "serviceaccount", "-n", "drawbridge-nodes", LEAVES)
    for playbook in ("slurm", "gate"):
        run = smaller.playbook(playbook)
        assert run.code == 0, run.output
    assert f"Node {LEAVES} not found" in lab.ssh("ctl", f"scontrol show node {LEAVES} 2>&1", check=False)
    accounts = lab.kubectl("get", "serviceaccounts", "-n", "drawbridge-nodes", "-o", "name")
    assert "gpu01" in accounts
    assert LEAVES not in accounts
    second = smaller.playbook("site")
    assert (second.code, second.changed()) == (0, []), second.output

    back = lab.playbook("onboard", "-e", f"onboard_nodes={LEAVES}")
    assert back.code == 0, back.output
    in_service(lab)
    words = f"srun -p ai-train -w {LEAVES} -N1 -D /tmp hostname -s"
    assert lab.ssh("login1", f"runuser -u ada -- {words}").strip() == LEAVES
