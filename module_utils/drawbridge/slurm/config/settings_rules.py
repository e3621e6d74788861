# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the site's own lines of slurm.conf: what Slurm would swallow, or what is said elsewhere."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ...core.faults import Fault
from ..model import Slurm
from .words import KEYS, WORDS, known, spelled

KEY = "drawbridge_slurm.settings"

SAID_ELSEWHERE = {
    "AccountingStorageTRES": "drawbridge_nodes.classes",
    "ClusterName": "drawbridge_slurm.cluster",
    "GresTypes": "drawbridge_nodes.classes",
    "HealthCheckInterval": "drawbridge_slurm.health",
    "KillWait": "drawbridge_slurm.kill_wait_s",
    "NodeName": "drawbridge_nodes",
    "NodeSet": "drawbridge_nodes.classes",
    "PartitionName": "drawbridge_slurm.partitions",
    "PreemptMode": "drawbridge_slurm.preempt_mode",
    **dict.fromkeys(("PriorityCalcPeriod", "PriorityDecayHalfLife", "PriorityMaxAge"), "drawbridge_slurm.priority"),
    **dict.fromkeys(("PriorityWeightAge", "PriorityWeightFairshare"), "drawbridge_slurm.priority"),
    **dict.fromkeys(("PriorityWeightJobSize", "PriorityWeightQOS"), "drawbridge_slurm.priority"),
    "SlurmctldHost": "drawbridge_slurm.controller",
    "TopologyPlugin": "drawbridge_slurm.topology",
}
"""What follows from another key of the intent."""

OWNED = frozenset(
    [
        "AccountingStorageEnforce",
        "AccountingStorageHost",
        "AccountingStorageType",
        "AuthType",
        "BatchStartTimeout",
        "CliFilterPlugins",
        "CredType",
        "Epilog",
        "EpilogSlurmctld",
        "HealthCheckNodeState",
        "HealthCheckProgram",
        "JobAcctGatherType",
        "JobSubmitPlugins",
        "MaxBatchRequeue",
        "PreemptType",
        "PriorityType",
        "ProctrackType",
        "Prolog",
        "PrologEpilogTimeout",
        "PrologFlags",
        "PrologSlurmctld",
        "ReturnToService",
        "SchedulerType",
        "SelectType",
        "SelectTypeParameters",
        "SlurmUser",
        "SlurmctldPidFile",
        "SlurmctldPort",
        "SlurmdPidFile",
        "SlurmdSpoolDir",
        "StateSaveLocation",
        "TaskPlugin",
    ]
)
"""What our roles rely on, and write themselves."""

HARMFUL = {
    "DebugFlags=NO_CONF_HASH": "the hash tells whether daemons run with the file that is there",
    "SlurmdParameters=config_overrides": "a node that lost a GPU or memory would go on as if it had it",
}
PROGRAMS = {
    *("RebootProgram", "ResumeFailProgram", "ResumeProgram", "ResvEpilog", "ResvProlog"),
    *("SuspendProgram", "TaskEpilog", "TaskProlog", "UnkillableStepProgram"),
}
"""Slurm looks for a name without a slash in directories that configless nodes don't have."""


def settings_are_slurms_and_not_ours(slurm: Slurm) -> Iterator[Fault]:
    """Each key is one of this release, and nobody else writes it."""
    release = slurm.version
    for key, value in slurm.settings.items():
        place = f"{KEY}.{key}"
        names = {name.lower(): name for name in (*SAID_ELSEWHERE, *OWNED, *spelled(KEYS))}
        if (name := names.get(key.lower(), "")) in SAID_ELSEWHERE:
            yield Fault(place, value, f"it follows from {SAID_ELSEWHERE[name]}", f"say it there, without {key} here")
        elif name in OWNED:
            yield Fault(place, value, "our roles rely on their own value of it", f"leave {key} out")
        elif name and name != key:
            yield Fault(place, value, f"Slurm spells it {name}", f"write {name}")
        elif key.lower() not in known(KEYS, release):
            near = difflib.get_close_matches(key, [word for word in spelled(KEYS) if word != key], 1)
            repair = f"write {near[0]}" if near and not name else f"leave {key} out, or describe another release"
            yield Fault(place, value, f"Slurm {release} knows no such key and would not start", repair)


def words_are_known(slurm: Slurm) -> Iterator[Fault]:
    """Slurm swallows an option that it does not know, and nobody notices that it does nothing."""
    release = slurm.version
    for key, value in slurm.settings.items():
        words = WORDS.get(key, "")
        for word in value.split(",") if words else ():
            name = word.split("=", 1)[0].strip()
            if name.lower() not in known(words, release):
                near = difflib.get_close_matches(name, [other for other in spelled(words) if other != name], 1)
                newer = name in spelled(words)
                repair = f"leave {name or 'the comma'} out" if newer or not near else f"write {near[0]}"
                yield Fault(f"{KEY}.{key}", value, f"Slurm {release} would ignore the word {name!r}", repair)
        for pair, reason in HARMFUL.items():
            name, word = pair.split("=")
            if key == name and word.lower() in value.lower().split(","):
                yield Fault(f"{KEY}.{key}", value, reason, f"leave {word} out")


def programs_are_absolute(slurm: Slurm) -> Iterator[Fault]:
    """A program that every node runs has the same path on every node."""
    for key, value in slurm.settings.items():
        if key in PROGRAMS and not value.startswith("/"):
            reason = "nodes have no directory of Slurm's in which a bare name could be found"
            yield Fault(f"{KEY}.{key}", value, reason, "write an absolute path that exists on every node")


RULES = (
    settings_are_slurms_and_not_ours,
    words_are_known,
    programs_are_absolute,
)
