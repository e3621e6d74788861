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

OWN: Mapping[str, Mapping[str, str]] = {
    "slurm.conf": {
        **dict.fromkeys(("accountingstorageenforce", "debugflags", "mpidefault", "privatedata"), "none"),
        **dict.fromkeys(("disablerootjobs", "enforcepartlimits", "priorityfavorsmall", "trackwckey"), "no"),
        **dict.fromkeys(("acctgathernodefreq", "completewait", "healthcheckinterval", "inactivelimit"), "0"),
        **dict.fromkeys(("defmempercpu", "jobfileappend", "killonbadexit", "maxmempercpu", "overtimelimit"), "0"),
        **dict.fromkeys(("priorityweightage", "priorityweightassoc", "priorityweightfairshare"), "0"),
        **dict.fromkeys(("priorityweightjobsize", "priorityweightpartition", "priorityweightqos"), "0"),
        **dict.fromkeys(("propagateprioprocess", "returntoservice", "usepam", "vsizefactor", "waittime"), "0"),
        **{"accountingstoragehost": "localhost", "accountingstorageport": "6819", "allowspecresourcesusage": "no"},
        **{"authtype": "auth/munge", "batchstarttimeout": "10", "credtype": "cred/munge", "epilogmsgtime": "2000"},
        **{"fairsharedampeningfactor": "1", "firstjobid": "1", "groupupdateforce": "1", "groupupdatetime": "600"},
        **{"healthchecknodestate": "any", "jobacctgatherfrequency": "30", "jobcomptype": "jobcomp/none"},
        **{"jobrequeue": "1", "killwait": "30", "logtimeformat": "iso8601_ms", "maxarraysize": "1001"},
        **{"maxbatchrequeue": "5", "maxjobcount": "10000", "maxjobid": "67043328", "maxstepcount": "40000"},
        **{"maxtaskspernode": "512", "messagetimeout": "10", "minjobage": "300", "preemptmode": "off"},
        **{"preempttype": "preempt/none", "prepplugins": "prep/script", "prioritycalcperiod": "5"},
        **{"prioritydecayhalflife": "7-0", "prioritymaxage": "7-0", "priorityusageresetperiod": "none"},
        **{"resumerate": "300", "resumetimeout": "60", "schedulertimeslice": "30", "schedulertype": "sched/backfill"},
        **{"selecttype": "select/cons_tres", "slurmctlddebug": "info", "slurmctldport": "6817"},
        **{"slurmctldtimeout": "120", "slurmddebug": "info", "slurmdport": "6818", "slurmdtimeout": "300"},
        **{"slurmduser": "root", "suspendrate": "60", "suspendtime": "unlimited", "suspendtimeout": "30"},
        **{"switchtype": "switch/none", "tcptimeout": "2", "tmpfs": "/tmp", "topologyplugin": "topology/flat"},
        **{"treewidth": "16", "unkillablesteptimeout": "60"},
    },
    "partition": {
        **dict.fromkeys(("allocnodes", "allowaccounts", "allowgroups", "allowqos"), "all"),
        **dict.fromkeys(("default", "exclusivetopo", "exclusiveuser", "hidden", "lln", "oversubscribe"), "no"),
        **dict.fromkeys(("powerdownonidle", "reqresv", "rootonly"), "no"),
        **dict.fromkeys(("maxcpuspernode", "maxcpuspersocket", "maxnodes", "maxtime"), UNLIMITED),
        **{"gracetime": "0", "minnodes": "0", "priorityjobfactor": "1", "prioritytier": "1", "state": "up"},
    },
    "node": {"boards": "1", "state": "unknown", "tmpdisk": "0", "weight": "1"},
    "cgroup.conf": {
        **dict.fromkeys(("constraincores", "constraindevices", "constrainramspace", "constrainswapspace"), "no"),
        **{"allowedramspace": "100", "allowedswapspace": "0", "cgroupmountpoint": "/sys/fs/cgroup"},
        **{"enablecontrollers": "no", "ignoresystemd": "no", "maxrampercent": "100", "maxswappercent": "100"},
        **{"minramspace": "30"},
    },
    "slurmdbd.conf": {
        **{"authtype": "auth/munge", "dbdport": "6819", "debuglevel": "info", "logtimeformat": "iso8601_ms"},
        **{"messagetimeout": "10", "storagehost": "localhost", "storageloc": "slurm_acct_db", "storageport": "3306"},
        **{"storagetype": "accounting_storage/mysql", "tcptimeout": "2", "trackwckey": "no"},
    },
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
