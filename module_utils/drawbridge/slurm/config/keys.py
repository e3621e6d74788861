# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Who sets which key of Slurm's files: the intent elsewhere, Drawbridge alone, both, or the site.

A key in none of these tables is the site's. Drawbridge's value is then only a preset.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...core.options import PATH
from ..language.values import PLUGINS, listed, plugins
from .words import WORDS

DERIVED = {
    key: f"drawbridge_{place}"
    for place, keys in {
        "nodes": "NodeName",
        "nodes.classes": "NodeSet",
        "slurm.accounting": "AccountingStorageHost AccountingStoragePort",
        "slurm.cluster": "ClusterName",
        "slurm.controller": "ControlMachine SlurmctldHost",
        "slurm.controller_address": "ControlAddr",
        "slurm.health": "HealthCheckInterval",
        "slurm.kill_wait_s": "KillWait",
        "slurm.partitions": "PartitionName",
        "slurm.preempt_mode": "PreemptMode",
        "slurm.priority": "PriorityCalcPeriod PriorityDecayHalfLife PriorityMaxAge PriorityWeightAge "
        "PriorityWeightFairshare PriorityWeightJobSize PriorityWeightQOS",
        "slurm.topology": "TopologyPlugin",
    }.items()
    for key in keys.split()
}
"""Keys of slurm.conf that follow from another key of the intent."""


@dataclass(frozen=True)
class Own:
    """Why Drawbridge alone sets a key, and what a site does instead; empty: nothing."""

    reason: str
    instead: str = ""


_PARTS = "slurm-dispatch runs all scripts of this kind as parts"
_MUNGE = "all hosts share munge's key"
_ONE = "Drawbridge runs one slurmctld"


def _script(kind: str) -> Own:
    return Own(_PARTS, f"add the script to drawbridge_slurm.scripts.{kind}")


SCRIPT_KINDS = {
    "Epilog": "epilog",
    "EpilogSlurmctld": "epilog_slurmctld",
    "HealthCheckProgram": "health",
    "Prolog": "prolog",
    "PrologSlurmctld": "prolog_slurmctld",
}
"""Keys of slurm.conf that name programs, by the key of drawbridge_slurm.scripts that keeps them."""

OWNED = {
    "AccountingStorageType": Own("accounts, shares and limits are in slurmdbd"),
    "AuthType": Own(_MUNGE),
    "BackupAddr": Own(_ONE),
    "BackupController": Own(_ONE),
    "BatchStartTimeout": Own("with a shorter wait Slurm would lose a batch job whose prolog still runs"),
    "CredType": Own(_MUNGE),
    "Epilog": _script("epilog"),
    "EpilogSlurmctld": _script("epilog_slurmctld"),
    "HealthCheckProgram": Own(
        "slurm-health runs the site's own checks as parts", "add the program to drawbridge_slurm.scripts.health"
    ),
    "MaxBatchRequeue": Own("the gate counts its own tries, and Slurm counts requeues of every kind together"),
    "PriorityType": Own("the weights of drawbridge_slurm.priority need priority/multifactor"),
    "ProctrackType": Own("jobs are confined, and end, with their cgroup"),
    "Prolog": _script("prolog"),
    "PrologEpilogTimeout": Own("slurm-dispatch limits each part", "set drawbridge_slurm.part_timeout_s"),
    "PrologSlurmctld": _script("prolog_slurmctld"),
    "ReturnToService": Own("a lost node comes back only when it is proved ready"),
    "SelectType": Own("only select/cons_tres schedules GPUs"),
}
"""Keys that Drawbridge sets alone."""

PLUGIN_LISTS = frozenset({"CliFilterPlugins", "JobSubmitPlugins"})
MERGED = frozenset(WORDS) | PLUGIN_LISTS | {"AccountingStorageTRES", "GresTypes"}
"""Lists that hold Drawbridge's words and the site's."""

HARMFUL = {
    "DebugFlags=NO_CONF_HASH": "Drawbridge needs the hash to see whether daemons have read the current files",
    "PrologFlags=DeferBatch": "slurmctld loses a deferred launch when it restarts, and the job runs without its script",
    "PrologFlags=RunInJob": "a restart of slurmd would then kill a running epilog and drain the node",
    "SlurmdParameters=config_overrides": "a node that lost a GPU or memory would still be offered with it",
}
"""Words that a site must not add, and why."""


@dataclass(frozen=True)
class Need:
    """A list of which one word must be there."""

    key: str
    one_of: frozenset[str]
    """In small letters; plugins with their kind."""
    reason: str
    repair: str

    def fits(self, value: str) -> bool:
        """Whether a value has such a word."""
        named = plugins(self.key, value) if self.key.lower() in PLUGINS else listed(value)
        return not self.one_of.isdisjoint(word.lower() for word in named)


NEEDED = {
    need.key: need
    for need in (
        Need(
            *("SelectTypeParameters", frozenset({"cr_core_memory", "cr_cpu_memory", "cr_socket_memory"})),
            *("jobs would share the memory of their nodes", "add CR_Core_Memory"),
        ),
        Need(
            *("TaskPlugin", frozenset({"task/cgroup"})),
            *("a job could use the GPUs and cores of other jobs", "add task/cgroup"),
        ),
        Need(
            *("AccountingStorageEnforce", frozenset({"all", "associations", "limits", "qos", "safe", "wckeys"})),
            *("jobs without an account would start", "add associations"),
        ),
    )
}
"""Lists of the site's without which jobs would not be apart."""

PROGRAMS = frozenset(
    {
        *("RebootProgram", "ResumeFailProgram", "ResumeProgram", "ResvEpilog", "ResvProlog"),
        *("SuspendProgram", "TaskEpilog", "TaskProlog", "UnkillableStepProgram"),
    }
)
"""Slurm looks for a name without a slash in directories that configless nodes don't have."""
PATHS = (
    *("SlurmSchedLogFile", "SlurmctldLogFile", "SlurmctldPidFile", "SlurmdLogFile", "SlurmdPidFile"),
    *("SlurmdSpoolDir", "StateSaveLocation"),
)
LASTING, VOLATILE = ("SlurmdSpoolDir", "StateSaveLocation"), ("/dev/", "/run/", "/tmp/", "/var/run/", "/var/tmp/")
"""Paths of what must survive a boot, and places that do not."""


def unusable(key: str, value: str) -> str:
    """Why the intent refuses a value of the site's for a key of slurm.conf, and what to do; empty if it does not."""
    if key in NEEDED and not NEEDED[key].fits(value):
        return f"{NEEDED[key].reason}; {NEEDED[key].repair}"
    if key == "SlurmUser" and value == "root":
        return "its scripts and the accounting database would run as root; give the state to another user"
    if key in LASTING and f"{value}/".startswith(VOLATILE):
        return "a boot or a clean-up empties that directory; stop Slurm, and move the state"
    if key in PATHS and not re.fullmatch(PATH.pattern, value.replace("%n", "n").replace("%h", "n")):
        return "the intent takes paths of letters, digits, dots, dashes and slashes alone"
    if key in PROGRAMS and not value.startswith("/"):
        return "nodes have no directory in which Slurm could find a bare name; write its absolute path"
    return ""


PRESETS = {
    "SlurmUser": "slurm",
    "SlurmctldPort": "6817",
    "SlurmdPort": "6818",
    "StateSaveLocation": "/var/spool/slurmctld",
    "SlurmdSpoolDir": "/var/spool/slurmd",
}
"""Values without a line of the site's that other files need too."""

CLASSES = "drawbridge_nodes.classes"
_DEVICES = "jobs must not see GPUs, cores and memory of other jobs"
PARTITION_DERIVED = {
    "AllowAccounts": "allow_accounts",
    "AllowQos": "allow_qos",
    "Default": "default",
    "DefaultTime": "default_time",
    "MaxTime": "max_time",
    "Nodes": "nodes",
    "PriorityTier": "priority_tier",
}
"""Keys of a partition's line by the key of the intent."""
NODE_DERIVED = {
    key: CLASSES
    for key in (
        *("Boards", "CPUs", "CoreSpecCount", "CoresPerSocket", "CpuSpecList", "MemSpecLimit", "RealMemory"),
        *("Sockets", "SocketsPerBoard", "ThreadsPerCore"),
    )
} | {"NodeAddr": "drawbridge_nodes.ranges", "NodeHostname": "drawbridge_nodes.ranges"}
NODE_OWNED = {
    "GresConf": "gres.conf has the devices of all nodes",
    "Reason": "scontrol keeps reasons, with the person and the time",
    "State": "scontrol keeps states, and a node joins only when it is proved ready",
}
CGROUP_OWNED = {
    "CgroupPlugin": "it follows from the nodes' cgroups",
    "ConstrainCores": _DEVICES,
    "ConstrainDevices": _DEVICES,
    "ConstrainRAMSpace": _DEVICES,
}
DBD_DERIVED = {
    "DbdAddr": "host",
    "DbdHost": "host",
    "DbdPort": "port",
    "StorageHost": "database.host",
    "StorageLoc": "database.name",
    "StoragePort": "database.port",
    "StorageUser": "database.user",
}
DBD_OWNED = {
    "AuthType": "all hosts share munge's key",
    "DbdBackupHost": "Drawbridge runs one slurmdbd",
    "SlurmUser": "it follows from drawbridge_slurm.settings.SlurmUser",
    "StoragePass": "it is a secret, and the intent appears in logs and diffs",
    "StorageType": "slurmdbd has no other one",
}
OF_GPUS = {
    "gpu": ("gres.conf has the GPUs of drawbridge_nodes.classes", "remove it, and describe the GPUs in their class"),
    "shard": ("gres.conf has the shards of drawbridge_nodes.classes", "remove it, and set gpus.shards of the class"),
    "mps": (
        "a fatal fault of one job would end all jobs of the GPU, and MPS holds all GPUs open",
        "remove it, and set gpus.mig or gpus.shards of the class",
    ),
}
"""Why a line may not give nodes such a resource, and the repair."""
