# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The files of Slurm's controller, derived from the intent without facts of nodes."""

from __future__ import annotations

import itertools

from ...core import hostlist
from ...nodes.model import Nodes
from ..model import Slurm
from ..releases import RELEASES
from .node_groups import NodeGroup, node_groups
from .refusals import refusals
from .settings import preset
from .slurm_conf import DBD_PORT, slurm_conf
from .text import HIDDEN, Record, settings, text
from .topology import topology_conf

CONSTRAINTS = {f"Constrain{what}": "yes" for what in ("Cores", "Devices", "RAMSpace", "SwapSpace")}


def controller_files(slurm: Slurm, nodes: Nodes, cgroups: bool) -> dict[str, str]:
    """Names and contents of the files in the controller's /etc/slurm, in the order of writing.

    slurm.conf is last: every client command parses it, and it names the other files.
    """
    companions = {
        "cgroup.conf": cgroup_conf(slurm, cgroups),
        "gres.conf": gres_conf(nodes, slurm),
        "topology.conf": topology_conf(nodes, slurm),
        **refusals(slurm),
    }
    return {**companions, "slurm.conf": slurm_conf(slurm, nodes, companions, cgroups)}


def cgroup_conf(slurm: Slurm, cgroups: bool) -> str:
    """The file; lines of the site's win."""
    own = CONSTRAINTS if cgroups else {"CgroupPlugin": RELEASES[slurm.version].no_cgroups}
    return text(settings({**own, **slurm.cgroup_settings}))


def gres_conf(nodes: Nodes, slurm: Slurm) -> str:
    """One file for all nodes, with the site's lines. Without autodetection, a node that lacks a GPU is a finding.

    Instances of GPUs are detected: their device files change with each division, and a job's variables have their
    UUIDs only so. A missing one is a finding too, for the node's line has the number of each profile.
    """
    records: list[Record] = [{"AutoDetect": "off"}]
    own = text([*records, *(record for group in node_groups(nodes, slurm) for record in _gpus(group))])
    return own + "".join(f"{line}\n" for line in slurm.gres_lines)


def slurmdbd_conf(slurm: Slurm) -> str:
    """Drawbridge's own database has no password: it authenticates Slurm's user by its socket.

    For a server of the site's, HIDDEN is in the place of the password.
    """
    storage, user = slurm.accounting, preset(slurm.settings, "SlurmUser")
    database, ours = storage.database, storage.database.server == "drawbridge"
    own = {
        "AuthType": "auth/munge",
        "DbdHost": storage.host or slurm.controller,
        "DbdPort": "" if storage.port == DBD_PORT else storage.port,
        "SlurmUser": user,
        "PidFile": "/run/slurmdbd/slurmdbd.pid",
        "StorageType": "accounting_storage/mysql",
        "StorageHost": database.host,
        "StoragePort": "" if ours else database.port,
        "StorageUser": user if ours else database.user,
        "StoragePass": "" if ours else HIDDEN,
        "StorageLoc": database.name,
    }
    return text(settings({**own, **storage.settings}))


def _gpus(group: NodeGroup) -> list[Record]:
    """One record for the neighbouring GPUs of each socket. Slurm numbers GPUs by their places in these records.

    A device that all GPUs of a vendor share is in no record and stays open to jobs: Slurm closes files of records.
    The kernel itself shows a process only the GPUs whose render nodes it may open.
    """
    gpus = group.node_class.gpus
    if gpus.divided:
        return [{"NodeName": group.nodes, "Name": "gpu", "AutoDetect": gpus.made_by.autodetect}]
    cores = [group.cores_near(numa) for numa in gpus.numa]
    if "" in cores:  # Slurm accepts cores of all GPUs, or of none
        cores = [""] * gpus.count
    near = itertools.groupby(zip(cores, gpus.numbers), key=lambda pair: pair[0])
    found: list[Record] = [
        {
            "NodeName": group.nodes,
            "Name": "gpu",
            "Type": gpus.type,
            "File": hostlist.compress([f"{gpus.made_by.devices}{number}" for _unused, number in pairs]),
            "Cores": those,
            "Flags": gpus.made_by.environment_flag,
        }
        for those, pairs in near
    ]
    shards = gpus.shards * gpus.count
    return [*found, {"NodeName": group.nodes, "Name": "shard", "Count": shards}] if shards else found
