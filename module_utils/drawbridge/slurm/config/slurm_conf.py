# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""slurm.conf: one cluster, its nodes folded by class, its partitions.

Every client command parses this file, so nodes are written as ranges: 10,000 single lines would cost each half a
second.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core import hostlist
from ...nodes.model import Nodes
from ..model import Partition, Slurm
from ..releases import RELEASES
from .builds import Build, builds, job_defaults, members, node_line
from .priority import priority
from .refusals import plugins
from .settings import joined
from .text import HEADER, Record, digest_of, settings, text

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
        *(node_line(build) for build in built),
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
        "HealthCheckNodeState": "CYCLE,ANY",
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


def _partition_line(partition: Partition, built: Sequence[Build], slurm: Slurm) -> Record:
    names = hostlist.expand(partition.nodes)
    return {
        "PartitionName": partition.name,
        "Nodes": members(names, built),
        "Default": partition.default,
        "MaxTime": partition.max_time,
        # Kubernetes may use a gated job's nodes, so they are the job's alone
        **(RELEASES[slurm.version].whole_nodes if partition.gate else {"OverSubscribe": "NO"}),
        **job_defaults([build for build in built if not build.members.isdisjoint(names)]),
    }
