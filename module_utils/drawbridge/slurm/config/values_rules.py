# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the values that a site gives to keys of slurm.conf: ports, paths, users, plugins."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...core.faults import Fault
from ...core.options import PATH
from ...nodes.model import Nodes
from ..accounting.model import USER
from ..model import Slurm
from .keys import LASTING, NEEDED, PATHS, PRESETS, VOLATILE
from .settings import preset

KEY = "drawbridge_slurm.settings"
_PORTS = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?")
MOST_PORT = 65535
PER_NODE = ("SlurmdLogFile", "SlurmdPidFile", "SlurmdSpoolDir")
"""Paths in which Slurm replaces %n and %h by the node's name."""
PREEMPTS = ("preempt/qos", "preempt/partition_prio")

OWNER = "write the name of the user that owns slurmctld's state"


def ports_differ(slurm: Slurm, nodes: Nodes) -> Iterator[Fault]:
    """slurmctld and slurmd listen at different ports on a host that runs both."""
    ranges = {}
    for key in ("SlurmctldPort", "SlurmdPort"):
        value = preset(slurm.settings, key)
        match = _PORTS.fullmatch(value)
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 0 < low <= high <= MOST_PORT or (key == "SlurmdPort" and low != high):
            kind = "a port, such as 6818" if key == "SlurmdPort" else "a port or a range, such as 6817 or 6817-6818"
            yield Fault(f"{KEY}.{key}", value, "it is no port from 1 to 65535", f"write {kind}")
            return
        ranges[key] = range(low, high + 1)
    both = sorted(set(ranges["SlurmctldPort"]) & set(ranges["SlurmdPort"]))
    if both and slurm.controller in nodes.by_name:
        key = "SlurmdPort" if "SlurmdPort" in slurm.settings else "SlurmctldPort"
        reason = f"slurmctld and slurmd would both listen at port {both[0]}"
        yield Fault(f"{KEY}.{key}", preset(slurm.settings, key), reason, "use different ports")


def paths_are_absolute_and_lasting(slurm: Slurm, nodes: Nodes) -> Iterator[Fault]:
    """State survives a boot, and daemons of one host have directories of their own."""
    for key in (key for key in PATHS if key in slurm.settings):
        value = slurm.settings[key]
        plain = re.sub("%[nh]", "n", value) if key in PER_NODE else value
        if not re.fullmatch(PATH.pattern, plain):
            reason = "it is no absolute path of letters, digits, dots, dashes and slashes"
            yield Fault(
                f"{KEY}.{key}", value, reason, f"write one such as {PRESETS.get(key, '/var/log/slurm/slurm.log')}"
            )
    for key in LASTING:
        value = preset(slurm.settings, key)
        if f"{value}/".startswith(VOLATILE):
            reason = "a boot or a clean-up empties that directory, and jobs would be lost"
            yield Fault(f"{KEY}.{key}", value, reason, f"write one such as {PRESETS[key]}")
    state, spool = (preset(slurm.settings, key) for key in ("StateSaveLocation", "SlurmdSpoolDir"))
    if state == spool and slurm.controller in nodes.by_name:
        reason = f"on {slurm.controller} the other daemon has the same directory, and both would write there"
        yield Fault(f"{KEY}.StateSaveLocation", state, reason, "use different directories")


def slurms_user_is_not_root(slurm: Slurm) -> Iterator[Fault]:
    """The gate's tokens on the controller belong to the user slurm."""
    name, key = preset(slurm.settings, "SlurmUser"), f"{KEY}.SlurmUser"
    if not re.fullmatch(USER.pattern, name):
        yield Fault(key, name, "it is no name of a user", f"{OWNER}, such as {PRESETS['SlurmUser']}")
    elif name == "root":
        reason = "slurmctld, its scripts and the accounting database would run as root"
        yield Fault(key, name, reason, f"write {PRESETS['SlurmUser']}, and let it own StateSaveLocation")
    elif name != PRESETS["SlurmUser"] and any(partition.gate for partition in slurm.partitions):
        reason = "a partition has gate: true, and the gate runs as the user slurm on the controller"
        yield Fault(key, name, reason, "rename the user, or leave gate out")


def plugins_do_what_drawbridge_needs(slurm: Slurm) -> Iterator[Fault]:
    """Plugins may be the site's as long as jobs have accounts, memory and GPUs of their own."""
    for key, need in NEEDED.items():
        value = slurm.settings.get(key, "")
        if value and not need.fits(value):
            yield Fault(f"{KEY}.{key}", value, need.reason, need.repair)
    kind = slurm.settings.get("PreemptType", PREEMPTS[0])
    if kind not in PREEMPTS:
        reason = f"drawbridge_slurm.preempt_mode ({slurm.preempt_mode}) needs a plugin that preempts"
        repair = "remove it" if any(qos.preempt for qos in slurm.qos) else f"write {PREEMPTS[1]}, or remove it"
        yield Fault(f"{KEY}.PreemptType", kind, reason, repair)
    elif kind != PREEMPTS[0] and (names := [qos.name for qos in slurm.qos if qos.preempt]):
        reason = f"Slurm would ignore what QOS {names[0]} preempts"
        yield Fault(f"{KEY}.PreemptType", kind, reason, "remove preempt from all QOS, or remove PreemptType")


def prolog_flags_agree(slurm: Slurm) -> Iterator[Fault]:
    """slurmctld ends with some combinations of PrologFlags."""
    value = slurm.settings.get("PrologFlags", "")
    flags = {word.strip().lower() for word in value.split(",")}
    if "nohold" in flags and flags & {"contain", "x11"}:
        reason = "Slurm does not start with NoHold beside Contain or X11"
        yield Fault(f"{KEY}.PrologFlags", value, reason, "remove NoHold")
    if "tmpfs" in slurm.settings.get("JobContainerType", "") and not flags & {"contain", "x11"}:
        reason = "Slurm does not start with it without PrologFlags=Contain"
        yield Fault(f"{KEY}.JobContainerType", slurm.settings["JobContainerType"], reason, "set PrologFlags: Contain")


def jobs_may_lock_memory(slurm: Slurm, nodes: Nodes) -> Iterator[Fault]:
    """RDMA registers locked memory, of which a login shell has little; srun would pass that limit on to its job."""
    if not any(build.nics for build in nodes.classes.values()):
        return
    for key, wrong in (("PropagateResourceLimits", {"ALL", "MEMLOCK"}), ("PropagateResourceLimitsExcept", {"NONE"})):
        value = slurm.settings.get(key, "")
        words = {word.strip().upper() for word in value.split(",")}
        if value and (words & wrong or (key.endswith("Except") and not words & {"ALL", "MEMLOCK"})):
            reason = "jobs would get the locked memory of their login shell, and RDMA needs more"
            repair = "add MEMLOCK" if key.endswith("Except") else "list other limits, such as CORE, or remove it"
            yield Fault(f"{KEY}.{key}", value, reason, repair)


RULES = (
    ports_differ,
    paths_are_absolute_and_lasting,
    slurms_user_is_not_root,
    plugins_do_what_drawbridge_needs,
    prolog_flags_agree,
    jobs_may_lock_memory,
)
