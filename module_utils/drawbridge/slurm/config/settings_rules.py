# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the site's own lines of slurm.conf: Slurm must not ignore them, and no other key may set them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ...core.faults import Fault
from ..model import Slurm
from .words import KEYS, WORDS, known, spelled

KEY = "drawbridge_slurm.settings"

DERIVED = {
    key: f"drawbridge_{place}"
    for place, keys in {
        "nodes": "NodeName",
        "nodes.classes": "AccountingStorageTRES GresTypes NodeSet",
        "slurm.cluster": "ClusterName",
        "slurm.controller": "SlurmctldHost",
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

OWNED = {
    *("AccountingStorageEnforce", "AccountingStorageHost", "AccountingStorageType", "AuthType", "BatchStartTimeout"),
    *("CliFilterPlugins", "CredType", "Epilog", "EpilogSlurmctld", "HealthCheckNodeState", "HealthCheckProgram"),
    *("JobAcctGatherType", "JobSubmitPlugins", "MaxBatchRequeue", "PreemptType", "PriorityType", "ProctrackType"),
    *("Prolog", "PrologEpilogTimeout", "PrologFlags", "PrologSlurmctld", "ReturnToService", "SchedulerType"),
    *("SelectType", "SelectTypeParameters", "SlurmUser", "SlurmctldPidFile", "SlurmctldPort", "SlurmdPidFile"),
    *("SlurmdSpoolDir", "StateSaveLocation", "TaskPlugin"),
}
"""Keys that Drawbridge's roles set and rely on."""

HARMFUL = {
    "DebugFlags=NO_CONF_HASH": "Drawbridge needs the hash to see whether daemons have read the current files",
    "SlurmdParameters=config_overrides": "a node that lost a GPU or memory would still be offered with it",
}
PROGRAMS = {
    *("RebootProgram", "ResumeFailProgram", "ResumeProgram", "ResvEpilog", "ResvProlog"),
    *("SuspendProgram", "TaskEpilog", "TaskProlog", "UnkillableStepProgram"),
}
"""Slurm looks for a name without a slash in directories that configless nodes don't have."""


def settings_are_known_and_free(slurm: Slurm) -> Iterator[Fault]:
    """Each key exists in this release, and nothing else sets it."""
    release = slurm.version
    for key, value in slurm.settings.items():
        place = f"{KEY}.{key}"
        names = {name.lower(): name for name in (*DERIVED, *OWNED, *spelled(KEYS))}
        if (name := names.get(key.lower(), "")) in DERIVED:
            yield Fault(place, value, f"it follows from {DERIVED[name]}", f"set it there, and remove {key} here")
        elif name in OWNED:
            yield Fault(place, value, "Drawbridge's roles rely on their own value", f"remove {key}")
        elif name and name != key:
            yield Fault(place, value, f"Slurm spells it {name}", f"write {name}")
        elif key.lower() not in known(KEYS, release):
            near = difflib.get_close_matches(key, [word for word in spelled(KEYS) if word != key], 1)
            repair = f"write {near[0]}" if near and not name else f"remove {key}, or set another release"
            yield Fault(place, value, f"Slurm {release} has no such key and would not start", repair)


def words_are_known(slurm: Slurm) -> Iterator[Fault]:
    """Slurm silently ignores an unknown word in a list."""
    release = slurm.version
    for key, value in slurm.settings.items():
        words = WORDS.get(key, "")
        for word in value.split(",") if words else ():
            name = word.split("=", 1)[0].strip()
            if name.lower() not in known(words, release):
                near = difflib.get_close_matches(name, [other for other in spelled(words) if other != name], 1)
                newer = name in spelled(words)
                repair = f"remove {name or 'the comma'}" if newer or not near else f"write {near[0]}"
                yield Fault(f"{KEY}.{key}", value, f"Slurm {release} would ignore the word {name!r}", repair)
        for pair, reason in HARMFUL.items():
            name, word = pair.split("=")
            if key == name and word.lower() in value.lower().split(","):
                yield Fault(f"{KEY}.{key}", value, reason, f"remove {word}")


def programs_are_absolute(slurm: Slurm) -> Iterator[Fault]:
    """A program that every node runs has the same path on every node."""
    for key, value in slurm.settings.items():
        if key in PROGRAMS and not value.startswith("/"):
            reason = "nodes have no directory in which Slurm could find a bare name"
            yield Fault(f"{KEY}.{key}", value, reason, "write an absolute path that exists on every node")


RULES = (
    settings_are_known_and_free,
    words_are_known,
    programs_are_absolute,
)
