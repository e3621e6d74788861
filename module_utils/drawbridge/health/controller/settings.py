# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The configuration of the program that decides about findings: the intent's part, and nodes by unit. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ...core import hostlist
from ..model import Breaker, Health, Reboot


@dataclass(frozen=True)
class Settings:
    """What the site has."""

    health: Health
    units: Mapping[str, tuple[str, ...]]
    """Nodes by the name of their unit."""
    proofs: frozenset[str]
    """Nodes that return from a fault of their hardware only with a new proof."""
    access: Mapping[str, str] | None = None
    """Where the API server is, and how this program proves who it is: url, ca_file, token_file. None: no Kubernetes."""

    @property
    def names(self) -> frozenset[str]:
        """All nodes of the intent."""
        return frozenset(name for names in self.units.values() for name in names)

    @staticmethod
    def parse(text: str) -> Settings:
        """From JSON; nodes are hostlists or lists of names. Raises ValueError."""
        try:
            shown = json.loads(text)
            own = dict(shown["health"])
            parts = {"breaker": _of(Breaker, own["breaker"]), "reboot": _of(Reboot, own["reboot"])}
            lists = {key: tuple(own[key]) for key in ("report_only", "conditions")}
            units = {str(unit): tuple(hostlist.names(names)) for unit, names in shown["units"].items()}
            access = shown.get("kube")
            proofs = frozenset(hostlist.names(shown["proofs"]))
            return Settings(_of(Health, {**own, **parts, **lists}), units, proofs, dict(access) if access else None)
        except (LookupError, TypeError, AttributeError) as err:
            raise ValueError(f"{type(err).__name__}: {err}") from err


def _of(kind: Any, given: Mapping[str, Any]) -> Any:
    """A dataclass from the keys that it has: a newer configuration may have more."""
    return kind(**{one.name: given[one.name] for one in fields(kind) if one.name in given})
