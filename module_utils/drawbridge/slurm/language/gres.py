# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""gres.conf: the resources that each of its lines gives to nodes."""

from __future__ import annotations

from dataclasses import dataclass

from .lines import Line
from .nodes import expanded, gres


@dataclass(frozen=True)
class Share:
    """What one line gives to each of its nodes."""

    name: str
    kind: str
    """Its Type; empty: any."""
    devices: tuple[str, ...]
    """Device files. A line with MultipleFiles makes one resource of them."""
    count: int
    cores: str = ""
    one: bool = False
    """All devices are one resource: a MIG instance has several files."""


def nodes_of(line: Line) -> list[str] | None:
    """The nodes of a line; None for a line of all nodes."""
    if line.kind == "nodename":
        return expanded(line.name)
    named = line.values().get("nodename")
    return expanded(named[1]) if named else None


def share(line: Line) -> Share | None:
    """What a line gives; None for a line such as AutoDetect, which names no resource."""
    keys = {line.kind: line.pairs[0], **line.values()}
    if "name" not in keys:
        return None
    values = {key: value for key, (_spelling, value) in keys.items()}
    several = "multiplefiles" in values
    devices = tuple(
        expanded(values.get("multiplefiles") or values.get("file", "")) if several or "file" in values else ()
    )
    amount = next(iter(gres(f"x:{values['count']}").values())) if "count" in values else len(devices) or 1
    count = 1 if several else len(devices) or amount
    cores = values.get("cores", values.get("cpus", ""))
    return Share(values["name"], values.get("type", ""), devices, count, cores, several)
