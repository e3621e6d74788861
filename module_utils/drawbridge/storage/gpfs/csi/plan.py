# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The driver in Kubernetes as objects and labels of nodes; steps to what the intent has, and to nothing. Pure."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ....core.consent import Consent
from ....core.converge import Step
from ....core.names import DRIVER_NODES, DRIVER_SIDECARS
from .objects import LEAVING, SLOTS, Json, Key, label

FEWEST = 2
"""Infra nodes of sidecars. Each has two pods, which keep apart."""
FIXED = ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode")
"""What Kubernetes lets no one change of a StorageClass."""
ADOPT = Consent("adopt", "Drawbridge did not make {}; it changes what others have made only with")


@dataclass(frozen=True)
class Item:
    """An object. `values` and `wanted` hold the fields that differ, or did when the run began."""

    present: bool = False
    made: bool = True
    """Whether a run made it."""
    values: Mapping[str, str] = field(default_factory=dict)
    wanted: Mapping[str, str] = field(default_factory=dict)
    fixed: str = ""
    """What Kubernetes lets no one change, and would have to."""


@dataclass(frozen=True)
class DriverState:
    """Wanted objects, others that runs have made, labels of nodes, and volumes that keep the driver."""

    items: Mapping[Key, Item] = field(default_factory=dict)
    others: frozenset[Key] = frozenset()
    nodes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    volumes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Lines of a diff."""
        found = []
        for key, item in self.items.items():
            found += [] if item.present else [f"{label(key)} absent"]
            found += [f"{label(key)} {path}: {value}" for path, value in sorted(item.values.items())]
        found += [f"{label(key)}, of an earlier run" for key in sorted(self.others)]
        return [*found, *(f"Node {name}: {it}" for name, own in sorted(self.nodes.items()) for it in sorted(own))]


def slot(active: str, in_use: bool, same: bool) -> str:
    """The Secret for the wanted content: the active one, or the other one if that is in use with another content."""
    base, _dash, last = active.rpartition("-")
    return f"{base}-{SLOTS[1 - SLOTS.index(last)]}" if in_use and not same else active


def fixed_fault(live: Json, want: Json) -> str:
    """The first field of a StorageClass that would have to change, with both values; "" for none."""
    for name in FIXED:
        if live.get(name) != want.get(name):
            return f"{name} is {_flat(live.get(name))}, and the intent has {_flat(want.get(name))}"
    return ""


def _flat(value: Any) -> str:
    return ", ".join(f"{key}: {it}" for key, it in sorted(value.items())) if isinstance(value, Mapping) else str(value)


def labels(mounted: Mapping[str, bool]) -> dict[str, frozenset[str]]:
    """Labels of nodes that mount all file systems; the value is whether it is an infra node."""
    return {name: frozenset([DRIVER_NODES, *([DRIVER_SIDECARS] if infra else [])]) for name, infra in mounted.items()}


def sidecars_fault(mounted: Sequence[str], infra: Sequence[str]) -> str:
    """Why sidecars would stay Pending; "" if two infra nodes mount all file systems."""
    ready = [name for name in infra if name in mounted]
    if len(ready) >= FEWEST:
        return ""
    lacking = ", ".join(name for name in infra if name not in mounted) or "more nodes"
    return (
        f"the driver's sidecars need {FEWEST} infra nodes with all file systems of storage classes, and"
        f" {', '.join(ready) or 'none'} mounts them. Mount them on {lacking}, or name others in drawbridge_kube.infra"
    )


def credentials_fault(resource: Json, given: Mapping[str, Any], variable: str) -> str:
    """What the credentials lack, with the lines to add; "" for nothing."""
    for cluster in resource["spec"]["clusters"]:
        part = cluster["secrets"].removeprefix("drawbridge-")
        own = given.get(part) or {}
        if missing := [key for key in ("username", "password") if not own.get(key)]:
            return (
                f"{variable}.{part} has no {' and no '.join(missing)}: the driver needs a user of the GUI of cluster"
                f" {cluster['id']} with the role CsiAdmin. In a file that ansible-vault encrypts, set"
                f" {variable}: {{{part}: {{username: ..., password: ...}}}}"
            )
    return ""


def plan(have: DriverState, want: DriverState) -> list[Step[DriverState]]:
    """Labels of nodes come before the operator, which waits for nodes; what left the intent goes last."""
    return [*_labels(have, want), *_coming(have), *_leaving(have)]


def plan_removal(have: DriverState, want: DriverState) -> list[Step[DriverState]]:
    """All that runs made, while no volume needs the driver."""
    leaving = [*_leaving(have)]
    operator = [step for step in leaving if step.payload[1][0] == "Deployment"]
    steps = [*(step for step in leaving if step not in operator), *_labels(have, want), *operator]
    if not have.volumes or not steps:
        return steps
    some = ", ".join(have.volumes[:3])
    refused = (
        f"{len(have.volumes)} volumes need the driver ({some}), and without it no pod mounts them. Delete their claims"
        " and the volumes, or keep drawbridge_gpfs.csi"
    )
    return [replace(steps[0], refused=refused), *steps[1:]]


def _coming(have: DriverState) -> Iterator[Step[DriverState]]:
    for key, item in have.items.items():
        differing = sorted(path for path, value in item.wanted.items() if item.values.get(path) != value)
        if item.present and not differing and not item.fixed:
            continue
        reason = f"change {label(key)}: {', '.join(differing)}" if item.present else f"make {label(key)}"
        refused = (
            f"{label(key)}: {item.fixed}. Kubernetes lets no one change it. Give the class of the intent another name,"
            f" or delete the old one (claims and volumes stay): kubectl delete storageclass {key[1]}"
            if item.fixed
            else ""
        )
        consent = None if item.made else replace(ADOPT, why=ADOPT.why.format(label(key)))
        becomes = functools.partial(_made, key)
        yield Step(reason, becomes, ("APPLY", key), consent=consent, refused=refused, about=f"make {label(key)}")


def _made(key: Key, state: DriverState) -> DriverState:
    wanted = state.items[key].wanted
    return replace(state, items={**state.items, key: Item(True, True, wanted, wanted)})


def _leaving(have: DriverState) -> Iterator[Step[DriverState]]:
    for kind in LEAVING:
        for key in sorted(it for it in have.others if it[0] == kind):
            yield Step(f"delete {label(key)}", functools.partial(_gone, key), ("DELETE", key))


def _gone(key: Key, state: DriverState) -> DriverState:
    return replace(state, others=state.others - {key})


def _labels(have: DriverState, want: DriverState) -> Iterator[Step[DriverState]]:
    for name, own in sorted(have.nodes.items()):
        wanted = want.nodes.get(name, frozenset())
        if own != wanted:
            verb = "let the driver run on" if wanted - own else "take the driver off"
            why = "" if wanted else ": it does not mount all file systems"
            yield Step(f"{verb} {name}{why}", functools.partial(_labelled, name, wanted), ("LABEL", name, wanted))


def _labelled(name: str, wanted: frozenset[str], state: DriverState) -> DriverState:
    return replace(state, nodes={**state.nodes, name: wanted})
