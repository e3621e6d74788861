# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""slurm.conf: one cluster, its nodes folded by class, its partitions.

Every client command parses this file, so nodes are written as ranges: 10,000 single lines would cost each half a
second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ... import hostlist
from ...dialects.slurm_conf import HEADER, Record, digest_of, settings, text
from ...dialects.slurm_release import RELEASES
from ...intent.model import NodeClass, Nodes, Partition, Slurm
from .priority import priority
from .refusals import plugins
from .settings import joined

SCRIPTS = "/usr/local/libexec/drawbridge"
HEALTH = f"{SCRIPTS}/slurm-health"
STATE = "/var/spool/slurmctld"
NODE_STATE = "/var/spool/slurmd"
SLURMCTLD_PORT = 6817
SCRIPT_TIMEOUT_S = 3600
"""Slurm's own limit for prologs and epilogs has no end; the parts' limits are meant to be hit before this one."""
MAX_REQUEUE = 1000
BATCH_START_TIMEOUT_S = 600
"""How long a batch launch may wait for its node's prolog before Slurm calls the job lost (default 10 s)."""


@dataclass(frozen=True)
class Build:
    """Nodes that share one NodeName line."""

    name: str
    """Their class, which is their Feature and their NodeSet too."""
    nodes: str
    node_class: NodeClass

    @cached_property
    def members(self) -> frozenset[str]:
        """The nodes, one by one."""
        return frozenset(hostlist.expand(self.nodes))

    @property
    def memory_mib(self) -> int:
        """What jobs get: the reserve is never offered, and a kernel that reports a little less still registers."""
        return self.node_class.memory_mib - self.node_class.reserved_memory_mib


def builds(nodes: Nodes) -> list[Build]:
    """The classes that have nodes, with these as a hostlist."""
    names: dict[str, list[str]] = {}
    for part in nodes.ranges:
        names.setdefault(part.node_class, []).extend(hostlist.expand(part.names))
    return [Build(name, hostlist.compress(members), nodes.classes[name]) for name, members in names.items()]


def gres(node_class: NodeClass) -> str:
    """The node's GPUs as Gres= writes them; empty for none."""
    gpus = node_class.gpus
    return f"gpu:{gpus.type}:{gpus.count}" if gpus.count else ""


def slurm_conf(slurm: Slurm, nodes: Nodes, companions: dict[str, str], cgroups: bool) -> str:
    """The file. `companions` are the files beside it: their digests stand in it, so that its hash speaks for them."""
    built = builds(nodes)
    digests = [f"# {name} {digest_of(content)}" for name, content in sorted(companions.items())]
    own = {
        **_daemons(slurm),
        **_scripts(slurm),
        **_health(slurm),
        **_enforcement(cgroups),
        **_scheduling(slurm),
        **priority(slurm),
        **plugins(slurm),
        **_accounting(slurm, built),
    }
    records: list[Record] = [
        *settings(joined(own, slurm.settings)),
        *(_node_line(build) for build in built),
        *({"NodeSet": build.name, "Feature": build.name} for build in built),
        *(_partition_line(partition, built, slurm) for partition in slurm.partitions),
    ]
    return text(records, [HEADER, *digests])


def _daemons(slurm: Slurm) -> Record:
    return {
        "ClusterName": slurm.cluster,
        "SlurmctldHost": slurm.controller,
        "SlurmctldPort": SLURMCTLD_PORT,
        "SlurmctldParameters": "enable_configless",
        "SlurmUser": "slurm",
        "AuthType": "auth/munge",
        "CredType": "cred/munge",
        "StateSaveLocation": STATE,
        "SlurmdSpoolDir": NODE_STATE,
        "SlurmctldPidFile": "/run/slurmctld/slurmctld.pid",
        "SlurmdPidFile": "/run/slurm/slurmd.pid",
        # a node that was lost comes back only when something has proved it
        "ReturnToService": 0,
    }


def _scripts(slurm: Slurm) -> Record:
    """Alloc without DeferBatch: a launch that waits in slurmctld's memory is lost when slurmctld restarts."""
    return {
        "PrologFlags": "Alloc",
        "PrologSlurmctld": f"{SCRIPTS}/slurm-prolog_slurmctld",
        "EpilogSlurmctld": f"{SCRIPTS}/slurm-epilog_slurmctld",
        "Prolog": f"{SCRIPTS}/slurm-prolog",
        "Epilog": f"{SCRIPTS}/slurm-epilog",
        "PrologEpilogTimeout": SCRIPT_TIMEOUT_S,
        "BatchStartTimeout": BATCH_START_TIMEOUT_S,
        "KillWait": slurm.kill_wait_s,
        # the gate counts its own tries and says why it holds a job; Slurm counts requeues of every kind together
        "MaxBatchRequeue": MAX_REQUEUE,
    }


def _health(slurm: Slurm) -> Record:
    """Nodes take turns, so that a large cluster asks its controller and its file systems a little all the time."""
    if not slurm.health.interval_s:
        return {}
    return {
        "HealthCheckProgram": HEALTH,
        "HealthCheckInterval": slurm.health.interval_s,
        "HealthCheckNodeState": "ANY,CYCLE",
    }


def _enforcement(cgroups: bool) -> Record:
    return {
        "ProctrackType": "proctrack/cgroup" if cgroups else "proctrack/linuxproc",
        "TaskPlugin": "task/cgroup,task/affinity" if cgroups else "task/none",
        "JobAcctGatherType": "jobacct_gather/cgroup" if cgroups else "jobacct_gather/linux",
    }


def _scheduling(slurm: Slurm) -> Record:
    return {
        "SchedulerType": "sched/backfill",
        # a failing node prolog requeues its job instead of holding it for ever
        "SchedulerParameters": "nohold_on_prolog_fail",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core_Memory",
        "TopologyPlugin": "" if slurm.topology == "none" else f"topology/{slurm.topology}",
        # an salloc's shell runs on a node of its job, where the prolog has been
        "LaunchParameters": "use_interactive_step",
        "GresTypes": "gpu",
    }


def _accounting(slurm: Slurm, built: Sequence[Build]) -> Record:
    types = sorted({build.node_class.gpus.type for build in built})
    return {
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "AccountingStorageHost": slurm.controller,
        "AccountingStorageEnforce": "associations,limits,qos,safe",
        "AccountingStorageTRES": ",".join(["gres/gpu", *(f"gres/gpu:{name}" for name in types)]),
    }


def _node_line(build: Build) -> Record:
    node = build.node_class
    return {
        "NodeName": build.nodes,
        "CPUs": node.cpus,
        "Boards": 1,
        "SocketsPerBoard": node.sockets,
        "CoresPerSocket": node.cores_per_socket,
        "ThreadsPerCore": node.threads_per_core,
        "RealMemory": build.memory_mib,
        "Gres": gres(node),
        "Feature": build.name,
    }


def _partition_line(partition: Partition, built: Sequence[Build], slurm: Slurm) -> Record:
    names = hostlist.expand(partition.nodes)
    return {
        "PartitionName": partition.name,
        "Nodes": _members(names, built),
        "Default": partition.default,
        "MaxTime": partition.max_time,
        # Kubernetes may use a gated job's nodes, so they are the job's alone
        **(RELEASES[slurm.version].whole_nodes if partition.gate else {"OverSubscribe": "NO"}),
        **_job_defaults([build for build in built if not build.members.isdisjoint(names)]),
    }


def _members(names: Sequence[str], built: Sequence[Build]) -> str:
    """A partition's nodes: classes that it has as a whole by the names of their NodeSets, then the others."""
    left = set(names)
    whole = [build for build in built if left.issuperset(build.members)]
    left = left.difference(*(build.members for build in whole))
    rest = hostlist.compress([name for name in names if name in left])
    return ",".join([*(build.name for build in whole), *([rest] if rest else [])])


def _job_defaults(built: Sequence[Build]) -> Record:
    """The fair part of the smallest node that a CPU or a GPU brings; without it one CPU would take all memory.

    Slurm gives a job with GPUs the memory of its GPUs, and any other job that of its CPUs.
    """
    default: dict[str, object] = {"DefMemPerCPU": min(build.memory_mib // build.node_class.cpus for build in built)}
    if with_gpus := [build for build in built if build.node_class.gpus.count]:
        default["DefCpuPerGPU"] = min(build.node_class.cpus // build.node_class.gpus.count for build in with_gpus)
        default["DefMemPerGPU"] = min(build.memory_mib // build.node_class.gpus.count for build in with_gpus)
    return default
