# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config import words
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.slurm_conf import slurm_conf
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.model import Health
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.releases import RELEASES

from tests.unit.module_utils.lab import NODES, SLURM

COMPANIONS = {"gres.conf": "AutoDetect=off\n", "topology.conf": "SwitchName=leaf1 Nodes=gpu[01-02]\n"}


def lines(companions: dict[str, str] = COMPANIONS, cgroups: bool = True, **changes: Any) -> list[str]:
    return slurm_conf(replace(SLURM, **changes), NODES, companions, cgroups).splitlines()


OF_THE_SITE = {
    **{"PrologFlags": "Contain,X11", "SlurmctldPort": "7817", "SlurmdSpoolDir": "/srv/slurmd/%n"},
    **{"JobAcctGatherType": "jobacct_gather/none", "JobSubmitPlugins": "require_timelimit"},
}
WORDS_OF_THE_SITE = {"SchedulerParameters": "bf_continue,nohold_on_prolog_fail,bf_window=2880"}
ELSEWHERE = {"controller_address": "10.0.0.1", "accounting": Storage(slurmdbd="site", host="dbd1", port=7031)}


@pytest.mark.parametrize(
    ("changes", "start", "found"),
    [
        ({"health": Health(0)}, "HealthCheck", []),
        (
            {"settings": {"PropagateResourceLimitsExcept": "MEMLOCK,NOFILE"}},
            "PropagateResource",
            ["LimitsExcept=MEMLOCK,NOFILE"],
        ),
        ({"settings": {"PropagateResourceLimits": "NOFILE"}}, "PropagateResource", ["Limits=NOFILE"]),
        # the site's values replace ours, but its lists join them
        ({"settings": OF_THE_SITE}, "PrologFlags=", ["Alloc,Contain,X11"]),
        ({"settings": OF_THE_SITE}, "JobSubmitPlugins=", ["lua,require_timelimit"]),
        ({"settings": OF_THE_SITE}, "SlurmctldPort=", ["7817"]),
        ({"settings": OF_THE_SITE}, "SlurmdSpoolDir=", ["/srv/slurmd/%n"]),
        ({"settings": OF_THE_SITE}, "JobAcctGatherType=", ["jobacct_gather/none"]),
        # a site's list of plugins that has ours says their order
        ({"settings": {"JobSubmitPlugins": "partition,lua"}}, "JobSubmitPlugins=", ["partition,lua"]),
        ({"settings": {"GresTypes": "nvme"}}, "GresTypes=", ["gpu,nvme"]),
        ({"settings": WORDS_OF_THE_SITE}, "SchedulerParameters=", ["nohold_on_prolog_fail,bf_continue,bf_window=2880"]),
        ({"settings": {"SlurmdParameters": "allow_ecores"}}, "SlurmdParameters=", ["allow_ecores"]),
        (ELSEWHERE, "SlurmctldHost=", ["ctl(10.0.0.1)"]),
        (ELSEWHERE, "AccountingStorageHost=", ["dbd1"]),
        (ELSEWHERE, "AccountingStoragePort", ["=7031"]),
        ({"topology": "none"}, "TopologyPlugin", []),
    ],
)
def test_what_the_intent_says_is_in_the_file(changes: dict[str, Any], start: str, found: list[str]) -> None:
    own = lines(**changes)
    assert [line.removeprefix(start) for line in own if line.startswith(start)] == found
    # Slurm dies of an empty key, and takes the later one of two with a warning
    assert not [line for line in own if line.endswith("=") or "= " in line]
    keys = [line.split("=")[0] for line in own if not line.startswith(("#", "NodeName", "NodeSet", "PartitionName"))]
    assert len(keys) == len(set(keys))


def test_a_gated_partition_gives_whole_nodes_and_no_other_does() -> None:
    partitions = {line.split()[0]: line for line in lines() if line.startswith("PartitionName=")}
    assert "Default=YES MaxTime=1-00:00:00 OverSubscribe=EXCLUSIVE" in partitions["PartitionName=ai-train"]
    assert "Default=NO MaxTime=UNLIMITED OverSubscribe=NO" in partitions["PartitionName=hpc"]


@pytest.mark.parametrize(
    ("settings", "own"),
    [
        ({}, {"DefMemPerCPU", "DefCpuPerGPU", "DefMemPerGPU"}),
        ({"DefMemPerCPU": "1000"}, {"DefCpuPerGPU", "DefMemPerGPU"}),
        ({"DefMemPerNode": "64000", "DefMemPerGPU": "9"}, {"DefCpuPerGPU"}),
    ],
)
def test_no_partition_overrides_what_the_site_sets_for_all(settings: dict[str, str], own: set[str]) -> None:
    (line,) = [it for it in lines(settings=settings) if it.startswith("PartitionName=ai-train")]
    assert {word.split("=")[0] for word in line.split() if word.startswith("Def") and "PerN" not in word} - {
        "Default"
    } == own


def test_a_node_has_the_features_and_resources_of_the_site_too() -> None:
    (line,) = [it for it in lines(node_settings={"h100": {"Feature": "ib", "Gres": "nvme:2"}}) if "NodeName=" in it][:1]
    words = dict(word.split("=") for word in line.split())
    assert words["Feature"] == "h100,ib" and words["Gres"].endswith(",nvme:2") and words["Gres"].startswith("gpu:")


def test_the_hash_of_the_file_speaks_for_its_companions() -> None:
    changed = lines({**COMPANIONS, "gres.conf": "AutoDetect=nvml\n"})
    assert [new for new, old in zip(changed, lines(), strict=True) if new != old] == [changed[1]]
    assert changed[1].startswith("# gres.conf ")


@pytest.mark.parametrize("version", RELEASES)
def test_whole_nodes_in_the_words_of_the_release(version: str) -> None:
    (gated,) = (line for line in lines(version=version) if line.startswith("PartitionName=ai-train"))
    assert (" Exclusive=NODE " in gated, " OverSubscribe=EXCLUSIVE " in gated) == (version > "26", version < "26")


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


@pytest.mark.parametrize("version", RELEASES)
def test_every_rendered_word_is_one_of_the_release(version: str) -> None:
    for line in lines(version=version):
        key, _, value = line.partition("=")
        if " " not in line and not line.startswith("#"):
            assert key.lower() in {*words.known(words.KEYS, version), "slurmctldhost"}
        for word in value.split(",") if key in words.WORDS else ():
            assert word.split("=")[0].lower() in words.known(words.WORDS[key], version)
