# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The part of the intent that would keep lines of a live Slurm."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..config.text import HIDDEN
from .model import Change

PASSWORDS = ("accountingstoragepass", "jobcomppass")
QOS = ("DenyQos", "QOS", "allow_qos")
"""Keys of partitions whose QOS must be declared, here or by others."""
JOINED = ("Feature", "Gres")
"""Keys that several lost lines share."""
ORDER = 20
"""Number of the first part in the order, well before the gate's."""


def intent(found: Sequence[Change]) -> str:
    """The keys that keep these lines, as YAML; empty if no line has one."""
    return "\n".join(_yaml(_intent(found)))


def _intent(found: Sequence[Change]) -> dict[str, Any]:
    """The keys that keep these lines, as the intent has them."""
    slurm: dict[str, Any] = {}
    for change in (change for change in found if change.keep):
        kind, *rest = change.keep
        if kind == "gres_lines":
            slurm.setdefault(kind, []).append(change.value)
        elif kind == "scripts":
            parts = slurm.setdefault(kind, {}).setdefault(rest[0], [])
            parts.append({"name": f"{ORDER + len(parts)}-site", "path": change.value})
        elif kind == "partitions":
            name, *path = rest
            entries = slurm.setdefault(kind, [])
            entry = next((it for it in entries if it["name"] == name), None)
            if entry is None:
                entries.append(entry := {"name": name})
            _put(entry, path, change.value)
            if path and path[-1] in QOS:
                known = slurm.setdefault("qos_of_site", [])
                known += [name for name in _names(change.value) if name not in known]
        else:
            _put(slurm, change.keep, change.value)
    return {"drawbridge_slurm": slurm} if slurm else {}


def _names(value: Any) -> list[str]:
    return value if isinstance(value, list) else value.split(",")


def _put(tree: dict[str, Any], path: Sequence[str], value: Any) -> None:
    if not path:
        return
    *above, last = path
    for key in above:
        tree = tree.setdefault(key, {})
    if last in JOINED and last in tree:
        value = f"{tree[last]},{value}"
    tree[last] = HIDDEN if last.lower() in PASSWORDS else value


def _yaml(tree: Mapping[str, Any]) -> Iterator[str]:
    """Nested mappings, and lists of mappings, as YAML; JSON is YAML too."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield f"{key}:"
            yield from (f"  {line}" for line in _yaml(value))
        elif isinstance(value, list) and isinstance(value[0], dict):
            yield f"{key}:"
            for entry in value:
                first, *more = _yaml(entry)
                yield from (f"  - {first}", *(f"    {line}" for line in more))
        else:
            yield f"{key}: {json.dumps(value, ensure_ascii=False)}"
