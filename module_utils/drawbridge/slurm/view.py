# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Packages and files of each kind of Slurm host, as arguments of Drawbridge's modules."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from ..core.faults import Fault, IntentError
from ..nodes.gpus.divisible import divisible
from ..nodes.gpus.instances_text import ANY, USED
from ..nodes.gpus.vendors import DEFAULT
from ..nodes.model import Gpus, NodeClass, Nodes
from .accounting.view import accounting
from .config.keys import PRESETS, SCRIPT_KINDS
from .config.node_groups import gres
from .config.settings import at_start, first_port, on_node, preset
from .config.slurm_conf import HEALTH, JOB_GPUS, JOB_GPUS_PART, SCRIPTS
from .config.text import HEADER
from .config.view import controller_files, slurmdbd_conf
from .logins.model import ADOPT
from .model import Script, Slurm
from .packaging import PACKAGINGS
from .resets.view import budget

PARTS = "/etc/drawbridge/slurm"
EXPORTER_FOLDER = "/etc/tmpfiles.d/drawbridge-exporter.conf"
SLURMD_LIMIT = "/etc/systemd/system/slurmd.service.d/20-drawbridge-memory.conf"
INSTANCES = "/etc/drawbridge/gpu-instances.json"
File = dict[str, Any]


def slurm_controller(nodes: Nodes, slurm: Slurm, cgroups: bool) -> dict[str, Any]:
    """Files of Slurm's controller, and its accounting.

    C(packages), options of M(drawbridge.drawbridge.slurm_packages); C(mariadb), path of the database server's file;
    C(slurmctld) and C(slurmdbd), files for M(drawbridge.drawbridge.slurm_config) and
    M(drawbridge.drawbridge.slurmdbd_config); C(accounting), options of M(drawbridge.drawbridge.slurm_accounting).
    C(budget) is the configuration of drawbridge-budget, where a budget has a period or an account an end.
    """
    texts = controller_files(slurm, nodes, cgroups)
    storage, user = slurm.accounting, preset(slurm.settings, "SlurmUser")
    own_database = storage.database.server == "drawbridge"
    return {
        **_packages(slurm, "controller", *(_accounting_parts(slurm) if runs_slurmdbd(slurm) else ())),
        "user": user,
        "slurmctld": [
            *scripts(slurm, ("prolog_slurmctld", "epilog_slurmctld")),
            _state(slurm, "StateSaveLocation", user, "0700"),
            *_log_folders(slurm, ("SlurmctldLogFile", "SlurmSchedLogFile"), user),
            {**_environment("slurmctld", "", slurm), "at_start": True},
            *({"path": f"/etc/slurm/{name}", "content": content} for name, content in texts.items()),
        ],
        "runs_slurmdbd": runs_slurmdbd(slurm),
        "accounting_packages": _packages(slurm, *_accounting_parts(slurm))["packages"],
        "mariadb": f"{PACKAGINGS[slurm.packages].mariadb}/60-drawbridge.cnf" if own_database else "",
        "database": {"database": storage.database.name, "user": user},
        "slurmdbd": [
            {"path": "/etc/slurm/slurmdbd.conf", "content": slurmdbd_conf(slurm), **_owner(user), "mode": "0600"},
        ],
        "accounting": accounting(slurm),
        **({"budget": timed} if (timed := budget(slurm)) else {}),
        "scripts": {key: [it.path for it in getattr(slurm.scripts, kind)] for key, kind in SCRIPT_KINDS.items()},
        "release": slurm.version,
    }


def slurm_node(nodes: Nodes, slurm: Slurm, name: str, cgroups: bool, mounts: Sequence[str] = ()) -> dict[str, Any]:
    """Files of slurmd on one node, and the hardware with which it registers.

    C(packages), options of M(drawbridge.drawbridge.slurm_packages); C(hardware), options of
    M(drawbridge.drawbridge.slurm_node_hardware); C(slurmd), files as M(drawbridge.drawbridge.slurm_daemon) takes them;
    C(ready), options of M(drawbridge.drawbridge.slurm_node_ready). C(instances), options of
    M(drawbridge.drawbridge.gpu_instances), empty for GPUs without instances; C(instances_boot), the file from which a
    boot divides GPUs. C(modes), options of M(drawbridge.drawbridge.gpu_modes).
    """
    return {
        **_packages(slurm, "node", *_further_parts(slurm, nodes.class_of(name))),
        **_instances(nodes.class_of(name).gpus, name),
        "modes": _modes(nodes.class_of(name).gpus, name),
        "slurmd": [
            *scripts(slurm, ("prolog", "epilog")),
            *_job_gpus(nodes.class_of(name)),
            *_health(slurm, nodes.class_of(name), mounts, returns=not slurm.gates(name)),
            _on_node(_state(slurm, "SlurmdSpoolDir", "root", "0755"), name),
            *(_on_node(folder, name) for folder in _log_folders(slurm, ("SlurmdLogFile",), "root")),
            _slurmd_limit(nodes.class_of(name), cgroups),
            _environment("slurmd", _server(slurm), slurm),
        ],
        "hardware": {
            "name": name,
            "machine": _machine(nodes.class_of(name)),
            **_gpus(nodes.class_of(name).gpus),
        },
        "logins": _logins(slurm, name, cgroups),
        "ready": {"name": name, "gres": gres(nodes.class_of(name)), "health": HEALTH},
    }


def _further_parts(slurm: Slurm, node_class: NodeClass) -> list[str]:
    """Parts of a distributor's packages that not every node needs."""
    wanted = {"adopt": slurm.node_logins.policy == ADOPT, "detection": node_class.gpus.divided}
    return [part for part, wants in wanted.items() if wants]


def _logins(slurm: Slurm, name: str, cgroups: bool) -> dict[str, Any]:
    """Who may log in to a node. Raises IntentError for logins that no job could hold."""
    logins = slurm.node_logins
    if logins.policy == ADOPT and not cgroups:
        key, reason = "drawbridge_slurm.node_logins.policy", "without cgroups no job holds an adopted login"
        raise IntentError([Fault(key, ADOPT, reason, "write closed, or let nodes confine jobs with cgroups")])
    return {**dataclasses.asdict(logins), "name": name}


def _job_gpus(node_class: NodeClass) -> list[File]:
    """Parts that name the job of each GPU for its metrics; none on a node without GPUs.

    An exporter that starts before the first job needs its directory.
    """
    gpus = node_class.gpus
    if not gpus.count:
        return []
    options = "".join(f"{word} " for word in _mapping_options(gpus))
    known = "--instances" if gpus.divided else f"--devices {','.join(map(str, gpus.numbers))}"
    verbs = {"prolog": f"{options}{known} write", "epilog": f"{options}remove"}
    folder = gpus.made_by.job_mapping
    made = f"{HEADER}\nd {folder} 0755 root root -\n"
    own = [
        {"path": EXPORTER_FOLDER, "content": made, "mode": "0644", "passive": True},
        {"path": folder, "mode": "0755"},
    ]
    return [
        *(own if folder else ()),
        *(
            {
                "path": f"{PARTS}/{kind}.d/{JOB_GPUS_PART}",
                "content": f"#!/bin/sh\n{HEADER}\nexec {JOB_GPUS} {verb}\n",
                "mode": "0755",
                "passive": True,
            }
            for kind, verb in verbs.items()
        ),
    ]


def _mapping_options(gpus: Gpus) -> list[str]:
    return [] if gpus.vendor == DEFAULT else ["--vendor", gpus.vendor]


def slurm_login(slurm: Slurm) -> dict[str, Any]:
    """Files of sackd on a login host.

    C(packages), options of M(drawbridge.drawbridge.slurm_packages); C(sackd), files as
    M(drawbridge.drawbridge.slurm_daemon) takes them.
    """
    return {**_packages(slurm, "login"), "sackd": [_environment("sackd", _server(slurm), slurm)]}


def scripts(slurm: Slurm, kinds: Sequence[str]) -> list[File]:
    """Slurm runs a script without arguments, so each kind has its own script, and a directory of parts."""
    directories = [{"path": f"{PARTS}/{kind}.d", "mode": "0755"} for kind in kinds]
    return [*directories, *(_script(kind, slurm.part_timeout_s, getattr(slurm.scripts, kind)) for kind in kinds)]


def runs_slurmdbd(slurm: Slurm) -> bool:
    """Whether the controller does."""
    return slurm.accounting.slurmdbd == "drawbridge" and slurm.accounting.host in ("", slurm.controller)


def _script(kind: str, part_timeout_s: int, own: Sequence[Script]) -> File:
    dispatch = f"{SCRIPTS}/slurm-dispatch --timeout {part_timeout_s}"
    parts = "".join(f" --part {script.name}={script.path}" for script in own)
    content = f"#!/bin/sh\n{HEADER}\nexec {dispatch}{parts} {kind}\n"
    return {"path": f"{SCRIPTS}/slurm-{kind}", "content": content, "mode": "0755", "passive": True}


def _accounting_parts(slurm: Slurm) -> tuple[str, ...]:
    """Packages of a host with slurmdbd."""
    return ("accounting", *(["database"] if slurm.accounting.database.server == "drawbridge" else []))


def _packages(slurm: Slurm, *parts: str) -> dict[str, Any]:
    packaging = PACKAGINGS[slurm.packages]
    names = list(dict.fromkeys(name for part in parts for name in getattr(packaging, part)))
    return {"packages": {"names": names, "manager": packaging.manager, "user_id": packaging.user_id}}


def _owner(user: str) -> dict[str, str]:
    """The packages' user has a group of its own; the group of another user is not known."""
    return {"owner": user, "group": user if user == PRESETS["SlurmUser"] else "root"}


def _state(slurm: Slurm, key: str, user: str, mode: str) -> File:
    """A directory of a daemon. One at a path of the site's keeps its owner and mode if it exists."""
    return {"path": preset(slurm.settings, key), **_owner(user), "mode": mode, "once": key in slurm.settings}


def _log_folders(slurm: Slurm, keys: Sequence[str], user: str) -> list[File]:
    """Folders of the log files that the site's settings name, if they do not exist."""
    folders = [slurm.settings[key].rpartition("/")[0] for key in keys if key in slurm.settings]
    return [
        {"path": path, **_owner(user), "mode": "0755", "once": True} for path in dict.fromkeys(filter(None, folders))
    ]


def _on_node(file: File, name: str) -> File:
    return {**file, "path": on_node(file["path"], name)}


def _health(slurm: Slurm, node_class: NodeClass, mounts: Sequence[str], returns: bool) -> list[File]:
    """What the health check expects on this node, and the directory of its parts.

    `returns`: the check resumes a node that Slurm lost. Where the gate runs, the gate does, which proves more.
    """
    gpus = node_class.gpus
    expected: dict[str, Any] = {"mounts": [*mounts], "gpus": gpus.present, "gpu_files": gpus.made_by.devices}
    if gpus.present:
        expected["gpu_list"] = _gpu_list(gpus)
    if gpus.count:
        expected["job_gpus"] = JOB_GPUS
    if gpus.count and (options := _mapping_options(gpus)):
        expected["job_gpus_options"] = options
    if returns:
        expected["returns"] = True
    if own := slurm.scripts.health:
        expected["parts"] = {script.name: script.path for script in own}
    content = f"{json.dumps(expected, indent=2)}\n"
    return [
        {"path": f"{PARTS}/health.d", "mode": "0755"},
        {"path": f"{PARTS}/health.json", "content": content, "mode": "0644", "passive": True},
    ]


def _gpu_list(gpus: Gpus) -> dict[str, Any]:
    """How the health check finds GPUs in a list of the kernel or of the driver, and what it finds of each."""
    vendor = gpus.made_by
    if vendor.kernel_list:
        modes = {vendor.partitions[part].files: mode for part, mode in gpus.modes.items()}
        known = {"files": vendor.kernel_list, "line": vendor.listed, "numbers": gpus.numbers}
        return {**known, "modes": modes} if modes else known
    found = {"command": list(vendor.listing), "line": vendor.listed, "instance": vendor.instance}
    return {**found, "instances": [dict(layout) for layout in gpus.layouts]} if gpus.divided else found


def _machine(node_class: NodeClass) -> dict[str, int]:
    keys = ("sockets", "cores_per_socket", "threads_per_core", "memory_mib")
    return {**{key: getattr(node_class, key) for key in keys}, "gpus": node_class.gpus.present}


def _gpus(gpus: Gpus) -> dict[str, Any]:
    """How the hardware check finds them. The numbers are known where no GPU has its own place as its number."""
    numbers = gpus.numbers if gpus.count and gpus.made_by.kernel_list else []
    modes = {"gpu_modes": gpus.modes} if gpus.modes else {}
    # GPUs that could have instances have a task that removes them
    allowed = ANY if gpus.divided else USED if gpus.count and divisible(gpus.vendor, gpus.product) else ""
    instances = {"gpu_instances": allowed} if allowed else {}
    return {"gpu_vendor": gpus.vendor, **({"gpu_numbers": numbers} if numbers else {}), **modes, **instances}


def _modes(gpus: Gpus, name: str) -> dict[str, Any]:
    """Partition modes that the intent names; none for GPUs without."""
    return {"name": name, "gpu_vendor": gpus.vendor, "gpu_modes": gpus.modes} if gpus.modes else {}


def _instances(gpus: Gpus, name: str) -> dict[str, Any]:
    """Instances of each GPU. GPUs that could have some are made whole when their layout leaves the intent."""
    if not (gpus.count and divisible(gpus.vendor, gpus.product)):
        return {"instances": {}, "instances_boot": []}
    layouts = [dict(layout) for layout in gpus.layouts] if gpus.divided else []
    options = {"name": name, "gpu_vendor": gpus.vendor, "gpus": layouts}
    file = {"path": INSTANCES, "content": f"{json.dumps(options, indent=2)}\n", "mode": "0644"}
    return {"instances": options, "instances_boot": [file] if gpus.divided else []}


def _slurmd_limit(node_class: NodeClass, cgroups: bool) -> File:
    """slurmd's own memory limit, in systemd's words.

    slurmd writes it (MemSpecLimit) into its control group when it starts. When systemd applies the unit's settings
    again, as for set-property, it writes the unit's value. Without cgroups, jobs run in this group, too.
    """
    limit = f"{node_class.reserved_memory_mib}M" if cgroups else "infinity"
    return {"path": SLURMD_LIMIT, "content": f"{HEADER}\n[Service]\nMemoryMax={limit}\n", "passive": True}


def _server(slurm: Slurm) -> str:
    return f"--conf-server {slurm.controller_address or slurm.controller}:{first_port(slurm.settings)}"


def _environment(daemon: str, value: str, slurm: Slurm) -> File:
    """A daemon's options. The file also changes with settings that the daemon reads only when it starts."""
    lines = [HEADER, *at_start(slurm.settings, daemon), f'{daemon.upper()}_OPTIONS="{value}"']
    folder = PACKAGINGS[slurm.packages].options
    return {"path": f"{folder}/{daemon}", "content": "".join(f"{line}\n" for line in lines)}
