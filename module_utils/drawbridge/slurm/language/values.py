# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a value means to Slurm: units, case, order, short names of plugins, and what Slurm takes without a line.

From src/common/read_config.c, parse_value.c and parse_time.c of Slurm 23.11.11, 24.05.8, 24.11.7, 25.05.8, 25.11.7
and 26.05.3. Only values are here that all of them read alike.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from typing import Callable

UNLIMITED = "unlimited"
_WITHOUT_LIMIT = frozenset({"-1", "infinite", UNLIMITED})
_NUMBER = re.compile(r"(?:0x[0-9a-f]+|[0-9]+)(k?)", re.IGNORECASE)
_TIME = re.compile(r"(?:([0-9]+)-)?([0-9]+)(?::([0-9]+))?(?::([0-9]+))?")
_TRUE, _FALSE = frozenset({"1", "true", "up", "yes"}), frozenset({"0", "down", "false", "no"})
Meaning = Callable[[str], Hashable]

PLUGINS = {
    "acctgatherenergytype": "acct_gather_energy",
    "acctgatherinterconnecttype": "acct_gather_interconnect",
    "authtype": "auth",
    "burstbuffertype": "burst_buffer",
    "clifilterplugins": "cli_filter",
    "credtype": "cred",
    "hashplugin": "hash",
    "jobcontainertype": "job_container",
    "jobsubmitplugins": "job_submit",
    "nodefeaturesplugins": "node_features",
    "prepplugins": "prep",
    "taskplugin": "task",
}
"""Keys whose plugins Slurm finds with and without their kind: `task/cgroup` and `cgroup`."""
IN_TURN = frozenset({"clifilterplugins", "jobsubmitplugins", "prepplugins"})
"""Keys whose plugins run in the order of the list."""
_WORDS = """
    AccountingStorageEnforce AccountingStoreFlags AllowAccounts AllowQos BcastParameters CommunicationParameters CpuBind
    DebugFlags DenyAccounts DenyQos DependencyParameters EnforcePartLimits HealthCheckNodeState JobAcctGatherParams
    LaunchParameters LogTimeFormat MpiDefault OverSubscribe PreemptMode PreemptParameters PriorityFlags
    PriorityUsageResetPeriod PrivateData PrologFlags PropagateResourceLimits PropagateResourceLimitsExcept QOS
    ReconfigFlags SchedulerParameters SelectTypeParameters SlurmctldDebug SlurmctldParameters SlurmctldSyslogDebug
    SlurmdDebug SlurmdParameters SlurmdSyslogDebug State SuspendExcStates TopologyParam
"""
"""Words in any order, in which case does not count."""
_NAMES = "AccountingStorageTRES AllocNodes AllowGroups Feature GresTypes"
"""Names in any order, in which case counts."""
_FLAGS = """
    AllowSpecResourcesUsage ConstrainCores ConstrainDevices ConstrainRAMSpace ConstrainSwapSpace Default DisableRootJobs
    EnableControllers ExclusiveTopo ExclusiveUser Hidden IgnoreSystemd LLN PowerDownOnIdle PriorityFavorSmall ReqResv
    RootOnly TrackWCKey UsePAM
"""
_NUMBERS = """
    AccountingStoragePort AcctGatherNodeFreq BatchStartTimeout Boards CompleteWait CoresPerSocket CPUs DbdPort
    DefCpuPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode EpilogMsgTime FairShareDampeningFactor FirstJobId GraceTime
    GroupUpdateForce GroupUpdateTime HealthCheckInterval InactiveLimit JobFileAppend JobRequeue KillOnBadExit KillWait
    MaxArraySize MaxBatchRequeue MaxCPUsPerNode MaxCPUsPerSocket MaxJobCount MaxJobId MaxMemPerCPU MaxMemPerNode
    MaxNodes MaxStepCount MaxTasksPerNode MemSpecLimit MessageTimeout MinJobAge MinNodes OverTimeLimit
    PriorityJobFactor PriorityTier PriorityWeightAge PriorityWeightAssoc PriorityWeightFairshare
    PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS PropagatePrioProcess RealMemory ResumeRate
    ResumeTimeout ReturnToService SchedulerTimeSlice SlurmctldPort SlurmctldTimeout SlurmdPort SlurmdTimeout Sockets
    SocketsPerBoard StoragePort SuspendRate SuspendTime SuspendTimeout TCPTimeout ThreadsPerCore TmpDisk TreeWidth
    UnkillableStepTimeout VSizeFactor WaitTime Weight
"""
_MINUTES = "DefaultTime MaxTime"
_SECONDS = "PriorityCalcPeriod PriorityDecayHalfLife PriorityMaxAge"
"""Times in which a number alone counts minutes."""
_PATHS = "PluginDir SlurmdSpoolDir StateSaveLocation TmpFS"


def _table(text: str) -> Mapping[str, str]:
    """Values by key in small letters."""
    return {key.lower(): value for key, _equals, value in (pair.partition("=") for pair in text.split())}


OWN: Mapping[str, Mapping[str, str]] = {
    "slurm.conf": _table(
        """
        AccountingStorageEnforce=none AccountingStorageHost=localhost AccountingStoragePort=6819 AcctGatherNodeFreq=0
        AllowSpecResourcesUsage=no AuthType=auth/munge BatchStartTimeout=10 CompleteWait=0 CredType=cred/munge
        DebugFlags=none DefMemPerCPU=0 DisableRootJobs=no EnforcePartLimits=no EpilogMsgTime=2000
        FairShareDampeningFactor=1 FirstJobId=1 GroupUpdateForce=1 GroupUpdateTime=600 HealthCheckInterval=0
        HealthCheckNodeState=any InactiveLimit=0 JobAcctGatherFrequency=30 JobCompType=jobcomp/none JobFileAppend=0
        JobRequeue=1 KillOnBadExit=0 KillWait=30 LogTimeFormat=iso8601_ms MaxArraySize=1001 MaxBatchRequeue=5
        MaxJobCount=10000 MaxJobId=67043328 MaxMemPerCPU=0 MaxStepCount=40000 MaxTasksPerNode=512 MessageTimeout=10
        MinJobAge=300 MpiDefault=none OverTimeLimit=0 PreemptMode=off PreemptType=preempt/none PrEpPlugins=prep/script
        PriorityCalcPeriod=5 PriorityDecayHalfLife=7-0 PriorityFavorSmall=no PriorityMaxAge=7-0
        PriorityUsageResetPeriod=none PriorityWeightAge=0 PriorityWeightAssoc=0 PriorityWeightFairshare=0
        PriorityWeightJobSize=0 PriorityWeightPartition=0 PriorityWeightQOS=0 PrivateData=none PropagatePrioProcess=0
        ResumeRate=300 ResumeTimeout=60 ReturnToService=0 SchedulerTimeSlice=30 SchedulerType=sched/backfill
        SelectType=select/cons_tres SlurmctldDebug=info SlurmctldPort=6817 SlurmctldTimeout=120 SlurmdDebug=info
        SlurmdPort=6818 SlurmdTimeout=300 SlurmdUser=root SuspendRate=60 SuspendTime=unlimited SuspendTimeout=30
        SwitchType=switch/none TCPTimeout=2 TmpFS=/tmp TopologyPlugin=topology/flat TrackWCKey=no TreeWidth=16
        UnkillableStepTimeout=60 UsePAM=0 VSizeFactor=0 WaitTime=0
        """
    ),
    "partition": _table(
        """
        AllocNodes=all AllowAccounts=all AllowGroups=all AllowQos=all Default=no ExclusiveTopo=no ExclusiveUser=no
        GraceTime=0 Hidden=no LLN=no MaxCPUsPerNode=unlimited MaxCPUsPerSocket=unlimited MaxNodes=unlimited
        MaxTime=unlimited MinNodes=0 OverSubscribe=no PowerDownOnIdle=no PriorityJobFactor=1 PriorityTier=1 ReqResv=no
        RootOnly=no State=up
        """
    ),
    "node": _table(
        """
        Boards=1 State=unknown TmpDisk=0 Weight=1
        """
    ),
    "cgroup.conf": _table(
        """
        AllowedRAMSpace=100 AllowedSwapSpace=0 CgroupMountpoint=/sys/fs/cgroup ConstrainCores=no ConstrainDevices=no
        ConstrainRAMSpace=no ConstrainSwapSpace=no EnableControllers=no IgnoreSystemd=no MaxRAMPercent=100
        MaxSwapPercent=100 MinRAMSpace=30
        """
    ),
    "slurmdbd.conf": _table(
        """
        AuthType=auth/munge DbdPort=6819 DebugLevel=info LogTimeFormat=iso8601_ms MessageTimeout=10
        StorageHost=localhost StorageLoc=slurm_acct_db StoragePort=3306 StorageType=accounting_storage/mysql
        TCPTimeout=2 TrackWCKey=no
        """
    ),
}
"""What Slurm takes without a line, by the place of the key and the key in small letters."""
_OTHER_NAMES = {
    "preemptmode": {"0": "off"},
    "suspendtime": {"none": UNLIMITED},
    "state": {"idle": "up", "unknown": "up"},
    "topologyplugin": dict.fromkeys(("topology/default", "topology/none"), "topology/flat"),
}
"""Names of one meaning."""


def number(value: str) -> Hashable:
    """A number: decimal, octal behind 0, hexadecimal behind 0x, with k for 1024."""
    match = _NUMBER.fullmatch(value)
    if not match:
        return UNLIMITED if value.lower() in _WITHOUT_LIMIT else value
    digits = value[: len(value) - len(match[1])]
    base = 16 if digits[:2].lower() == "0x" else 8 if re.fullmatch("0[0-7]+", digits) else 10
    return int(digits, base) * (1024 if match[1] else 1)


def flag(value: str) -> Hashable:
    """A word for yes or no."""
    lower = value.lower()
    return True if lower in _TRUE else False if lower in _FALSE else value


def seconds(value: str) -> int | None:
    """A time of days, hours, minutes and seconds; a number alone counts minutes. -1 for no limit, None for no time."""
    if value.lower() in _WITHOUT_LIMIT:
        return -1
    match = _TIME.fullmatch(value)
    if not match:
        return None
    days, *parts = match.groups()
    clock = [int(part) for part in parts if part is not None]
    if days is None and len(clock) < 3:
        clock = [0, *clock]
    hours, minutes, rest = [*clock, 0, 0][:3]
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + rest


def minutes(value: str) -> int | None:
    """The same in minutes: Slurm rounds up."""
    found = seconds(value)
    return found if found is None or found < 0 else -(-found // 60)


def words(value: str) -> frozenset[str]:
    """Words in small letters, in any order."""
    return frozenset(word.strip().lower() for word in value.split(",") if word.strip())


def listed(value: str) -> list[str]:
    """The words of a list as they are spelled, in their order."""
    return [word.strip() for word in value.split(",") if word.strip()]


def _names(value: str) -> Hashable:
    names = frozenset(listed(value))
    return frozenset({"all"}) if {name.lower() for name in names} == {"all"} else names


def plugins(key: str, value: str) -> list[str]:
    """Plugins of a key with their kind, in their order."""
    kind = PLUGINS[key.lower()]
    return [word if "/" in word else f"{kind}/{word}" for word in listed(value)]


def _keys(text: str) -> list[str]:
    return [key.lower() for key in text.split()]


_MEANINGS: Mapping[str, Meaning] = {
    **dict.fromkeys(_keys(_WORDS), words),
    **dict.fromkeys(_keys(_NAMES), _names),
    **dict.fromkeys(_keys(_FLAGS), flag),
    **dict.fromkeys(_keys(_NUMBERS), number),
    **dict.fromkeys(_keys(_MINUTES), lambda value: value if (time := minutes(value)) is None else time),
    **dict.fromkeys(_keys(_SECONDS), lambda value: value if (time := seconds(value)) is None else time),
    **dict.fromkeys(_keys(_PATHS), lambda value: value.rstrip("/")),
    "clustername": str.lower,
}


def meaning(key: str, value: str) -> Hashable:
    """What a value means, to be compared. The value itself, where case and order may count."""
    lower, bare = key.lower(), value.strip()
    if lower in PLUGINS:
        named = plugins(lower, bare)
        return tuple(named) if lower in IN_TURN else frozenset(named)
    bare = _OTHER_NAMES.get(lower, {}).get(bare.lower(), bare)
    return _MEANINGS[lower](bare) if lower in _MEANINGS else bare


def same(key: str, old: str, new: str) -> bool:
    """Whether both values mean the same."""
    return meaning(key, old) == meaning(key, new)


def own(place: str, key: str) -> str | None:
    """What Slurm takes without a line; None if that is not one value in all its releases."""
    return OWN[place].get(key.lower())


def is_own(place: str, key: str, value: str) -> bool:
    """Whether Slurm would take this value without a line."""
    without = own(place, key)
    return without is not None and same(key, value, without)
