# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the site's own lines of Slurm's files: Slurm must not ignore them, and no other key may set them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from ...core.faults import Fault
from ..language import gres
from ..language.lines import lines
from ..model import Slurm
from .keys import (
    CGROUP_OWNED,
    DBD_DERIVED,
    DBD_OWNED,
    DERIVED,
    HARMFUL,
    NODE_DERIVED,
    NODE_OWNED,
    OF_GPUS,
    OWNED,
    PARTITION_DERIVED,
    PLUGIN_LISTS,
    PROGRAMS,
)
from .refusals import plugins
from .text import HIDDEN
from .words import CGROUP_KEYS, DBD_KEYS, KEYS, NODE_KEYS, PARTITION_KEYS, WORDS, known, spelled

KEY = "drawbridge_slurm.settings"


def settings_are_known_and_free(slurm: Slurm) -> Iterator[Fault]:
    """Each key of slurm.conf exists in this release, and nothing else sets it."""
    owned = {key: own.reason for key, own in OWNED.items()}
    for fault in _free(KEY, slurm.settings, KEYS, DERIVED, owned, slurm.version):
        key = fault.key.rpartition(".")[2]
        own = OWNED.get(key)
        yield (
            Fault(fault.key, fault.value, fault.reason, f"{own.instead}, and remove {key} here")
            if (own and own.instead)
            else fault
        )


def partition_settings_are_known_and_free(slurm: Slurm) -> Iterator[Fault]:
    """The same for keys of partitions. A job of a gated partition gets whole nodes and is never suspended."""
    for index, partition in enumerate(slurm.partitions):
        place = f"drawbridge_slurm.partitions[{index}]"
        derived = {key: f"{place}.{name}" for key, name in PARTITION_DERIVED.items()}
        owned: dict[str, str] = {}
        if partition.gate:
            whole = "a partition with gate: true gives whole nodes"
            owned = dict.fromkeys(("Exclusive", "ExclusiveTopo", "ExclusiveUser", "OverSubscribe"), whole)
        free = {key: value for key, value in partition.settings.items() if key not in ("Priority", "Topology")}
        yield from _free(f"{place}.settings", free, PARTITION_KEYS, derived, owned, slurm.version)
        yield from _of_one_key(f"{place}.settings", partition.settings)
        mode = partition.settings.get("PreemptMode", "").lower()
        if partition.gate and {"suspend", "gang"} & set(mode.split(",")):
            reason = "a suspended job would keep its pods and GPUs"
            yield Fault(f"{place}.settings.PreemptMode", mode.upper(), reason, "write REQUEUE, CANCEL or OFF")


def _of_one_key(place: str, settings: Mapping[str, str]) -> Iterator[Fault]:
    """Keys that other keys say, or that need a file which Drawbridge does not write."""
    if "Priority" in settings:
        repair = f"write {settings['Priority']} into priority_tier and into settings.PriorityJobFactor"
        reason = "Slurm reads it as PriorityTier and PriorityJobFactor"
        yield Fault(f"{place}.Priority", settings["Priority"], reason, repair)
    if "Topology" in settings:
        reason = "it names a topology of topology.yaml, which Drawbridge does not write, and Slurm would not start"
        yield Fault(f"{place}.Topology", settings["Topology"], reason, "remove it: all partitions have one topology")


def node_settings_are_known_and_free(slurm: Slurm) -> Iterator[Fault]:
    """The same for keys of nodes."""
    for name, values in slurm.node_settings.items():
        place = f"drawbridge_slurm.node_settings.{name}"
        yield from _free(place, values, NODE_KEYS, NODE_DERIVED, NODE_OWNED, slurm.version)
        given = [entry.split(":")[0] for entry in values.get("Gres", "").split(",")]
        if wrong := next((entry for entry in given if entry in OF_GPUS), ""):
            reason = "drawbridge_nodes.classes has the GPUs and what jobs share of them"
            yield Fault(f"{place}.Gres", values["Gres"], reason, f"leave {wrong} out, and list other resources alone")


def cgroup_settings_are_known_and_free(slurm: Slurm) -> Iterator[Fault]:
    """The same for cgroup.conf, which slurmctld parses too."""
    place = "drawbridge_slurm.cgroup_settings"
    yield from _free(place, slurm.cgroup_settings, CGROUP_KEYS, {}, CGROUP_OWNED, slurm.version)


def dbd_settings_are_known_and_free(slurm: Slurm) -> Iterator[Fault]:
    """The same for slurmdbd.conf."""
    place = "drawbridge_slurm.accounting"
    derived = {key: f"{place}.{name}" for key, name in DBD_DERIVED.items()}
    own = slurm.accounting.settings
    yield from _free(f"{place}.settings", own, DBD_KEYS, derived, DBD_OWNED, slurm.version)


def _free(
    place: str, site: Mapping[str, str], keys: str, derived: Mapping[str, str], owned: Mapping[str, str], release: str
) -> Iterator[Fault]:
    """Faults of the site's lines of one file or line."""
    names = {name.lower(): name for name in (*derived, *owned, *spelled(keys))}
    for key, value in site.items():
        here, name = f"{place}.{key}", names.get(key.lower(), "")
        if name in derived:
            yield Fault(here, value, f"it follows from {derived[name]}", f"set it there, and remove {key} here")
        elif name in owned:
            shown = HIDDEN if name == "StoragePass" else value
            yield Fault(here, shown, f"Drawbridge relies on its own value: {owned[name]}", f"remove {key}")
        elif name and name != key:
            yield Fault(here, value, f"Slurm spells it {name}", f"write {name}")
        elif key.lower() not in known(keys, release):
            taken = {key, *derived, *owned}
            near = difflib.get_close_matches(key, [word for word in spelled(keys) if word not in taken], 1)
            repair = (
                f"write {near[0]}, or remove {key}" if near and not name else f"remove {key}, or set another release"
            )
            yield Fault(here, value, f"Slurm {release} has no such key and would not start", repair)


def words_are_known(slurm: Slurm) -> Iterator[Fault]:
    """Slurm silently ignores an unknown word in a list."""
    release, lua = slurm.version, plugins(slurm)
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
        if key in PLUGIN_LISTS and "lua" in value.split(",") and key not in lua:
            script = "job_submit" if key == "JobSubmitPlugins" else "cli_filter"
            reason = f"drawbridge_slurm.{script} has no script, and no partition has gate: true"
            repair = f"set drawbridge_slurm.{script}.script to the text of the script, and remove lua here"
            yield Fault(f"{KEY}.{key}", value, reason, repair)


def programs_are_absolute(slurm: Slurm) -> Iterator[Fault]:
    """A program that every node runs has the same path on every node."""
    for key, value in slurm.settings.items():
        if key in PROGRAMS and not value.startswith("/"):
            reason = "nodes have no directory in which Slurm could find a bare name"
            yield Fault(
                f"{KEY}.{key}",
                value,
                reason,
                "write an absolute path that exists on every node, such as /opt/site/file",
            )


def gres_lines_name_other_resources(slurm: Slurm) -> Iterator[Fault]:
    """GPUs of gres.conf follow from the node classes."""
    for index, text in enumerate(slurm.gres_lines):
        place, given = f"drawbridge_slurm.gres_lines[{index}]", [gres.share(line) for line in lines(text)]
        if not given or given[0] is None:
            yield Fault(place, text, "it names no resource", "write a line such as NodeName=a1 Name=nvme Count=2")
        elif known := OF_GPUS.get(given[0].name):
            yield Fault(place, text, *known)


RULES = (
    settings_are_known_and_free,
    partition_settings_are_known_and_free,
    node_settings_are_known_and_free,
    cgroup_settings_are_known_and_free,
    dbd_settings_are_known_and_free,
    words_are_known,
    programs_are_absolute,
    gres_lines_name_other_resources,
)
