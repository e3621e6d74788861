# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.slurm_conf import slurm_conf
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.words import (
    KEYS,
    WORDS,
    known,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.model import Health
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.releases import RELEASES

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
NODES, SLURM = part("nodes", SITE["drawbridge_nodes"]), part("slurm", SITE["drawbridge_slurm"])
COMPANIONS = {"gres.conf": "AutoDetect=off\n", "topology.conf": "SwitchName=leaf1 Nodes=gpu[01-02]\n"}


def lines(companions: dict[str, str] = COMPANIONS, cgroups: bool = True, **changes: Any) -> list[str]:
    return slurm_conf(replace(SLURM, **changes), NODES, companions, cgroups).splitlines()


def test_the_health_check_can_be_switched_off() -> None:
    own = lines(health=Health(120))
    assert "HealthCheckProgram=/usr/local/libexec/drawbridge/slurm-health" in own
    assert {"HealthCheckInterval=120", "HealthCheckNodeState=CYCLE,ANY"} <= set(own)
    assert not [line for line in lines(health=Health(0)) if line.startswith("HealthCheck")]


def test_a_gated_partition_gives_whole_nodes_and_no_other_does() -> None:
    partitions = {line.split()[0]: line for line in lines() if line.startswith("PartitionName=")}
    assert "Default=YES MaxTime=1-00:00:00 OverSubscribe=EXCLUSIVE" in partitions["PartitionName=ai-train"]
    assert "Default=NO MaxTime=UNLIMITED OverSubscribe=NO" in partitions["PartitionName=hpc"]


def test_launches_and_lost_nodes_are_safe() -> None:
    """slurmctld forgets a deferred launch at a restart, and a lost node must be proved first."""
    assert {"PrologFlags=Alloc", "ReturnToService=0"} <= set(lines())


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({}, "PropagateResourceLimitsExcept=MEMLOCK"),
        ({"PropagateResourceLimitsExcept": "MEMLOCK,NOFILE"}, "PropagateResourceLimitsExcept=MEMLOCK,NOFILE"),
        ({"PropagateResourceLimits": "NOFILE"}, "PropagateResourceLimits=NOFILE"),
    ],
)
def test_jobs_have_the_locked_memory_of_slurmd(settings: dict[str, str], line: str) -> None:
    assert [it for it in lines(settings=settings) if it.startswith("PropagateResource")] == [line]


def test_the_hash_of_the_file_speaks_for_its_companions() -> None:
    changed = lines({**COMPANIONS, "gres.conf": "AutoDetect=nvml\n"})
    assert [new for new, old in zip(changed, lines(), strict=True) if new != old] == [changed[1]]
    assert changed[1].startswith("# gres.conf ")


def test_no_key_is_empty_because_slurm_dies_of_it() -> None:
    without_topology = lines(topology="none")
    assert not [line for line in without_topology if line.endswith("=") or "= " in line]
    assert not [line for line in without_topology if line.startswith("TopologyPlugin")]


def test_the_sites_words_are_added_to_lists() -> None:
    words = {"SchedulerParameters": "bf_continue,nohold_on_prolog_fail,bf_window=2880"}
    assert "SchedulerParameters=nohold_on_prolog_fail,bf_continue,bf_window=2880" in lines(settings=words)


@pytest.mark.parametrize("version", RELEASES)
def test_whole_nodes_in_the_words_of_the_release(version: str) -> None:
    (gated,) = (line for line in lines(version=version) if line.startswith("PartitionName=ai-train"))
    assert (" Exclusive=NODE " in gated, " OverSubscribe=EXCLUSIVE " in gated) == (version > "26", version < "26")


OF_THE_SITE = {
    **{"PrologFlags": "Contain,X11", "SlurmctldPort": "7817", "SlurmdSpoolDir": "/srv/slurmd/%n"},
    **{"JobAcctGatherType": "jobacct_gather/none", "JobSubmitPlugins": "require_timelimit"},
}


def test_no_key_is_there_twice() -> None:
    """Slurm takes the later one, with a warning."""
    written = [line.split("=")[0] for line in lines(settings=OF_THE_SITE) if not line.startswith("#")]
    settings = [key for key in written if key not in ("NodeName", "NodeSet", "PartitionName")]
    assert len(settings) == len(set(settings))


def test_the_sites_values_replace_ours_but_its_lists_join_them() -> None:
    own = lines(settings=OF_THE_SITE)
    assert {"PrologFlags=Alloc,Contain,X11", "JobSubmitPlugins=lua,require_timelimit"} <= set(own)
    assert {"SlurmctldPort=7817", "SlurmdSpoolDir=/srv/slurmd/%n", "JobAcctGatherType=jobacct_gather/none"} <= set(own)


def test_lines_of_nodes_and_partitions_take_the_sites_keys() -> None:
    hpc = replace(
        SLURM.partitions[1],
        **{"default_time": "1:00:00", "allow_accounts": ("chem", "vision"), "allow_qos": ("normal",)},
        **{"priority_tier": 5, "settings": {"OverSubscribe": "FORCE:2", "DefMemPerNode": "1000", "LLN": "YES"}},
    )
    own = lines(partitions=(hpc,), node_settings={"h100": {"Weight": "10", "Feature": "ib,h100"}})
    (partition,) = (line for line in own if line.startswith("PartitionName"))
    assert (
        " DefaultTime=1:00:00 AllowAccounts=chem,vision AllowQos=normal PriorityTier=5 OverSubscribe=FORCE:2 "
        in partition
    )
    assert partition.endswith(" DefMemPerNode=1000 LLN=YES")
    assert "DefMemPerCPU" not in partition
    (node,) = (line for line in own if line.startswith("NodeName"))
    assert node.endswith(" Feature=h100,ib Weight=10")


def test_a_controller_with_another_address_and_slurmdbd_elsewhere() -> None:
    storage = Storage(slurmdbd="site", host="dbd1", port=7031)
    own = set(lines(controller_address="10.0.0.1", accounting=storage))
    assert {"SlurmctldHost=ctl(10.0.0.1)", "AccountingStorageHost=dbd1", "AccountingStoragePort=7031"} <= own
    assert not [line for line in lines() if line.startswith("AccountingStoragePort")]


@pytest.mark.parametrize("version", RELEASES)
def test_every_rendered_word_is_one_of_the_release(version: str) -> None:
    for line in lines(version=version):
        key, _, value = line.partition("=")
        if " " not in line and not line.startswith("#"):
            assert key.lower() in {*known(KEYS, version), "slurmctldhost"}
        for word in value.split(",") if key in WORDS else ():
            assert word.split("=")[0].lower() in known(WORDS[key], version)
