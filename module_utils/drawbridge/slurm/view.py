# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Packages and files of each kind of Slurm host, as arguments of Drawbridge's modules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..nodes.model import NodeClass, Nodes
from .accounting.view import accounting
from .config.node_groups import gres
from .config.settings import at_start
from .config.slurm_conf import HEALTH, NODE_STATE, SCRIPTS, SLURMCTLD_PORT, STATE
from .config.text import HEADER
from .config.view import DEVICE_FILES, controller_files, slurmdbd_conf
from .model import Slurm
from .packaging import PACKAGINGS

PARTS = "/etc/drawbridge/slurm"
SLURMS = {"owner": "slurm", "group": "slurm"}
File = dict[str, Any]


def controller(slurm: Slurm, nodes: Nodes, cgroups: bool) -> dict[str, Any]:
    """Packages, files of slurmctld and of slurmdbd, and the accounting database."""
    texts = controller_files(slurm, nodes, cgroups)
    return {
        **_packages(slurm, "controller"),
        "mariadb": f"{PACKAGINGS[slurm.packages].mariadb}/60-drawbridge.cnf",
        "slurmctld": [
            *scripts(("prolog_slurmctld", "epilog_slurmctld"), slurm.part_timeout_s),
            {"path": STATE, **SLURMS, "mode": "0700"},
            {**_environment("slurmctld", "", slurm), "at_start": True},
            *({"path": f"/etc/slurm/{name}", "content": content} for name, content in texts.items()),
        ],
        "slurmdbd": [
            {"path": "/etc/slurm/slurmdbd.conf", "content": slurmdbd_conf(slurm), **SLURMS, "mode": "0600"},
        ],
        "accounting": accounting(slurm),
        "release": slurm.version,
    }


def node(nodes: Nodes, slurm: Slurm, name: str, mounts: Sequence[str]) -> dict[str, Any]:
    """Packages, files of slurmd, and the hardware to register with. Raises IntentError for an unknown node."""
    return {
        **_packages(slurm, "node"),
        "slurmd": [
            *scripts(("prolog", "epilog"), slurm.part_timeout_s),
            *_health(nodes.class_of(name), mounts),
            {"path": NODE_STATE, "mode": "0755"},
            _environment("slurmd", _server(slurm), slurm),
        ],
        "health": HEALTH,
        "gres": gres(nodes.class_of(name)),
        "machine": _machine(nodes.class_of(name)),
    }


def login(slurm: Slurm) -> dict[str, Any]:
    """Packages, and files of sackd, which fetches slurm.conf for the commands of a login host."""
    return {**_packages(slurm, "login"), "sackd": [_environment("sackd", _server(slurm), slurm)]}


def scripts(kinds: Sequence[str], part_timeout_s: int) -> list[File]:
    """Slurm runs a script without arguments, so each kind has its own script, and a directory of parts."""
    dispatch = f"{SCRIPTS}/slurm-dispatch --timeout {part_timeout_s}"
    directories = [{"path": f"{PARTS}/{kind}.d", "mode": "0755"} for kind in kinds]
    texts = [
        {
            "path": f"{SCRIPTS}/slurm-{kind}",
            "content": f"#!/bin/sh\n{HEADER}\nexec {dispatch} {kind}\n",
            "mode": "0755",
            "passive": True,
        }
        for kind in kinds
    ]
    return [*directories, *texts]


def _packages(slurm: Slurm, part: str) -> dict[str, Any]:
    packaging = PACKAGINGS[slurm.packages]
    names = list(getattr(packaging, part))
    return {"packages": {"names": names, "manager": packaging.manager, "user_id": packaging.user_id}}


def _health(node_class: NodeClass, mounts: Sequence[str]) -> list[File]:
    """What the health check expects on this node, and the directory of its parts."""
    gpus = node_class.gpus
    expected = {"mounts": [*mounts], "gpus": gpus.count, "gpu_files": DEVICE_FILES[gpus.vendor]}
    content = f"{json.dumps(expected, indent=2)}\n"
    return [
        {"path": f"{PARTS}/health.d", "mode": "0755"},
        {"path": f"{PARTS}/health.json", "content": content, "mode": "0644", "passive": True},
    ]


def _machine(node_class: NodeClass) -> dict[str, int]:
    keys = ("sockets", "cores_per_socket", "threads_per_core", "memory_mib")
    return {**{key: getattr(node_class, key) for key in keys}, "gpus": node_class.gpus.count}


def _server(slurm: Slurm) -> str:
    return f"--conf-server {slurm.controller}:{SLURMCTLD_PORT}"


def _environment(daemon: str, value: str, slurm: Slurm) -> File:
    """A daemon's options. The file also changes with settings that the daemon reads only when it starts."""
    lines = [HEADER, *at_start(slurm.settings, daemon), f'{daemon.upper()}_OPTIONS="{value}"']
    folder = PACKAGINGS[slurm.packages].options
    return {"path": f"{folder}/{daemon}", "content": "".join(f"{line}\n" for line in lines)}
