# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""slurm.conf: settings, one line for each node class, partitions.

Every client command parses this file. With 10,000 lines of nodes each command would take half a second longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core import hostlist
from ...nodes.model import Nodes
from ..language.values import listed
from ..logins.model import ADOPT
from ..model import Partition, Slurm
from ..releases import RELEASES
from .keys import PRESETS
from .node_groups import NodeGroup, job_defaults, members, node_groups, node_line
from .refusals import plugins
from .settings import merged
from .text import HEADER, Record, digest_of, settings, text

SCRIPTS = "/usr/local/libexec/drawbridge"
HEALTH = f"{SCRIPTS}/slurm-health"
JOB_GPUS, JOB_GPUS_PART = f"{SCRIPTS}/slurm-job-gpus", "60-job-gpus"
"""Program, and name of its part in Prolog and Epilog: after the gate opened a node, before the gate closes it."""
SCRIPT_TIMEOUT_S = 3600
"""Slurm's own default is unlimited; the parts' limits are shorter than this one."""
MAX_REQUEUE = 1000
DBD_PORT, TIER = 6819, 1
"""Slurm's own values, which need no key."""
BATCH_START_TIMEOUT_S = 600
"""Wait of a batch launch for its node's prolog, before Slurm treats the job as lost (default 10 s)."""


def slurm_conf(slurm: Slurm, nodes: Nodes, companions: dict[str, str], cgroups: bool) -> str:
    """The file. It has the digests of `companions`, the files beside it, so that its hash covers them."""
    groups = node_groups(nodes, slurm)
    digests = [f"# {name} {digest_of(content)}" for name, content in sorted(companions.items())]
    own = {
        **_daemons(slurm),
        **_scripts(slurm),
        **_health(slurm),
        **_enforcement(cgroups),
        **_limits(slurm),
        **_scheduling(slurm, groups),
        **_priority(slurm),
        **plugins(slurm),
        **_accounting(slurm, groups),
    }
    records: list[Record] = [
        *settings(merged(own, slurm.settings)),
        *(with_settings(node_line(group), slurm.node_settings.get(group.name, {})) for group in groups),
        *({"NodeSet": group.name, "Feature": group.name} for group in groups),
        *(_partition_line(partition, groups, slurm) for partition in slurm.partitions),
    ]
    return text(records, [HEADER, *digests])


def _daemons(slurm: Slurm) -> Record:
    return {
        "ClusterName": slurm.cluster,
        "SlurmctldHost": f"{slurm.controller}({address})"
        if (address := slurm.controller_address)
        else slurm.controller,
        "SlurmctldPort": PRESETS["SlurmctldPort"],
        "SlurmctldParameters": "enable_configless",
        "SlurmUser": PRESETS["SlurmUser"],
        "AuthType": "auth/munge",
        "CredType": "cred/munge",
        "StateSaveLocation": PRESETS["StateSaveLocation"],
        "SlurmdSpoolDir": PRESETS["SlurmdSpoolDir"],
        "SlurmctldPidFile": "/run/slurmctld/slurmctld.pid",
        "SlurmdPidFile": "/run/slurm/slurmd.pid",
        # a lost node comes back only when it is proved ready
        "ReturnToService": 0,
    }


def _scripts(slurm: Slurm) -> Record:
    """Alloc without DeferBatch: a launch that waits in slurmctld's memory is lost when slurmctld restarts."""
    return {
        # Contain makes the step of a job that adopts logins
        "PrologFlags": "Alloc,Contain" if slurm.node_logins.policy == ADOPT else "Alloc",
        "PrologSlurmctld": f"{SCRIPTS}/slurm-prolog_slurmctld",
        "EpilogSlurmctld": f"{SCRIPTS}/slurm-epilog_slurmctld",
        "Prolog": f"{SCRIPTS}/slurm-prolog",
        "Epilog": f"{SCRIPTS}/slurm-epilog",
        "PrologEpilogTimeout": SCRIPT_TIMEOUT_S,
        "BatchStartTimeout": BATCH_START_TIMEOUT_S,
        "KillWait": slurm.kill_wait_s,
        # the gate counts its own tries; Slurm counts requeues of every kind together
        "MaxBatchRequeue": MAX_REQUEUE,
    }


def _health(slurm: Slurm) -> Record:
    """With CYCLE the nodes check one after another, which spreads the load on controller and file systems."""
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


def _limits(slurm: Slurm) -> Record:
    """srun passes the limits of its own shell on. RDMA needs more locked memory than a login has; slurmd has no limit.

    Slurm takes only one of the two keys.
    """
    return {} if "PropagateResourceLimits" in slurm.settings else {"PropagateResourceLimitsExcept": "MEMLOCK"}


def _scheduling(slurm: Slurm, groups: Sequence[NodeGroup]) -> Record:
    return {
        "SchedulerType": "sched/backfill",
        # a failing node prolog requeues its job instead of holding it
        "SchedulerParameters": "nohold_on_prolog_fail",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core_Memory",
        "TopologyPlugin": "" if slurm.topology == "none" else f"topology/{slurm.topology}",
        # an salloc's shell runs on a node of its job, after the prolog
        "LaunchParameters": "use_interactive_step",
        "GresTypes": ",".join(_gres_types(groups)),
    }


def _gres_types(groups: Sequence[NodeGroup]) -> list[str]:
    gpus = [group.node_class.gpus for group in groups if group.node_class.gpus.count]
    return [*(["gpu"] if gpus else []), *(["shard"] if any(it.shards for it in gpus) else [])]


def _priority(slurm: Slurm) -> Record:
    """Preempted jobs end: a suspended job would keep its pods and GPUs."""
    weights = slurm.priority
    return {
        "PriorityType": "priority/multifactor",
        "PriorityWeightFairshare": weights.fair_share_weight,
        "PriorityWeightQOS": weights.qos_weight,
        "PriorityWeightAge": weights.age_weight,
        "PriorityWeightJobSize": weights.size_weight,
        "PriorityMaxAge": weights.max_age,
        "PriorityDecayHalfLife": weights.half_life,
        "PriorityCalcPeriod": weights.recount_minutes,
        "PreemptType": "preempt/qos",
        "PreemptMode": slurm.preempt_mode.upper(),
    }


def _accounting(slurm: Slurm, groups: Sequence[NodeGroup]) -> Record:
    types = sorted({name for group in groups for name in group.node_class.gpus.resources})
    tres = [*(f"gres/{name}" for name in _gres_types(groups)), *(f"gres/gpu:{name}" for name in types)]
    return {
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "AccountingStorageHost": slurm.accounting.host or slurm.controller,
        "AccountingStoragePort": "" if slurm.accounting.port == DBD_PORT else slurm.accounting.port,
        "AccountingStorageEnforce": "associations,limits,qos,safe",
        "AccountingStorageTRES": ",".join(tres),
    }


def _partition_line(partition: Partition, groups: Sequence[NodeGroup], slurm: Slurm) -> Record:
    names = hostlist.expand(partition.nodes)
    own = {
        "PartitionName": partition.name,
        "Nodes": members(names, groups),
        "Default": partition.default,
        "MaxTime": partition.max_time,
        "DefaultTime": partition.default_time,
        "AllowAccounts": ",".join(partition.allow_accounts),
        "AllowQos": ",".join(partition.allow_qos),
        "PriorityTier": "" if partition.priority_tier == TIER else partition.priority_tier,
        # Kubernetes may use a gated job's nodes, so the job gets whole nodes
        **(RELEASES[slurm.version].whole_nodes if partition.gate else {"OverSubscribe": "NO"}),
        **_job_defaults([group for group in groups if not group.members.isdisjoint(names)], slurm, partition),
    }
    return with_settings(own, partition.settings)


def _job_defaults(groups: Sequence[NodeGroup], slurm: Slurm, partition: Partition) -> Record:
    """Without those that the site sets for all partitions: the partition's own would win."""
    site = {*slurm.settings, *partition.settings}
    taken = site | ({"DefMemPerCPU"} if "DefMemPerNode" in site else set())  # Slurm takes one of the two
    return {key: value for key, value in job_defaults(groups).items() if key not in taken}


def with_settings(own: Record, site: Mapping[str, str]) -> Record:
    """A line with the site's further keys, which win. A node has the features and resources of both."""
    both = {**own, **site}
    for key in ("Feature", "Gres"):
        if own.get(key) and key in site:
            both[key] = ",".join(dict.fromkeys([str(own[key]), *listed(site[key])]))
    return both
