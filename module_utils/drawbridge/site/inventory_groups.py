# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The hosts of the inventory's groups, compared with those that the intent names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core import hostlist
from ..core.faults import Fault
from ..fabric.model import Fabric
from ..kube.model import Kube
from ..nodes.model import Nodes
from ..slurm.model import Slurm
from ..storage.kinds import KINDS
from ..telemetry.model import Telemetry
from .compose import Composed, arguments, whole

GROUP_OF_INFRA = "infra"


@dataclass(frozen=True)
class Group:
    """A group that must have just these hosts."""

    key: str
    """The key of the intent that names them."""
    names: Sequence[str]
    empty_because: str = ""
    """Why it must be empty, if the key does not say so."""


def _of_nodes(nodes: Nodes) -> dict[str, Group]:
    return {"nodes": Group("drawbridge_nodes.ranges", list(nodes.by_name))}


def _of_fabric(fabric: Fabric | None) -> dict[str, Group]:
    switches = fabric.switches if fabric else ()
    names = [name for kind in switches for name in hostlist.expand(kind.names)]
    return {"switches": Group("drawbridge_fabric.switches", names)}


def _of_slurm(slurm: Slurm) -> dict[str, Group]:
    storage = slurm.accounting
    ours = storage.slurmdbd == "drawbridge"
    elsewhere = ours and storage.host not in ("", slurm.controller)
    because = "" if elsewhere else "slurmdbd runs on the controller" if ours else "slurmdbd is the site's"
    return {
        "controllers": Group("drawbridge_slurm.controller", [slurm.controller]),
        "accounting": Group("drawbridge_slurm.accounting.host", [storage.host] if elsewhere else [], because),
    }


def _of_filesystems(filesystems: Mapping[str, Any]) -> dict[str, Group]:
    """Without hosts for a kind that the site lacks."""
    rows = [(name, group, row) for name, kind in KINDS.items() for group, row in kind.groups.items()]
    return {
        group: Group(f"drawbridge_{name}.{row.key}", [*row.names(filesystems[name])] if name in filesystems else [])
        for name, group, row in rows
    }


def _of_kube(kube: Kube | None) -> dict[str, Group]:
    return {GROUP_OF_INFRA: Group("drawbridge_kube.infra", hostlist.expand(kube.infra))} if kube else {}


def _of_telemetry(telemetry: Telemetry | None) -> dict[str, Group]:
    readers = [telemetry.switches.host] if telemetry and telemetry.switches else []
    servers = [telemetry.prometheus.host] if telemetry and telemetry.prometheus else []
    return {
        "telemetry": Group("drawbridge_telemetry.switches.host", readers),
        "prometheus": Group("drawbridge_telemetry.prometheus.host", servers),
    }


EXPECTED: tuple[Callable[..., dict[str, Group]], ...] = (
    _of_nodes,
    _of_fabric,
    _of_slurm,
    _of_filesystems,
    _of_kube,
    _of_telemetry,
)


def group_faults(found: Composed, groups: Mapping[str, Iterable[str]], part: bool = False) -> list[Fault]:
    """Differences, but for groups whose hosts a broken domain names. `groups` maps names to host names.

    `part`: the inventory may have any part of the site, such as a slice of a job.
    """
    faults: list[Fault] = []
    for expected in (it for it in EXPECTED if whole(it, found)):
        for name, group in expected(**arguments(expected, found.parts)).items():
            # Drawbridge need not configure the infra nodes
            if name in groups or name != GROUP_OF_INFRA:
                faults += _compared(name, group, list(groups.get(name, ())), part)
    return faults


def _compared(name: str, group: Group, hosts: Sequence[str], part: bool) -> list[Fault]:
    present, defined, faults = set(hosts), set(group.names), []
    missing = "" if part else hostlist.compress([it for it in group.names if it not in present])
    if missing:
        reason = f"the inventory's group {name} has no {missing}"
        faults.append(Fault(group.key, missing, reason, f"add it to the group {name}, or take it out of {group.key}"))
    if undefined := hostlist.compress([host for host in hosts if host not in defined]):
        reason = group.empty_because or f"{group.key} does not have it"
        define = "" if group.empty_because else f"define it in {group.key}, or "
        faults.append(Fault(f"group {name}", undefined, reason, f"{define}take it out of the group {name}"))
    return faults
