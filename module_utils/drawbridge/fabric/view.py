# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The fabric as one switch sees it: the class, in no vendor's words, and the ports that carry it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..core import hostlist, ports
from ..core.faults import Fault, IntentError
from .model import Cnp, Fabric, Roce, Watchdog


@dataclass(frozen=True)
class SwitchProfile:
    """What one switch has to do for the lossless class. Bytes, milliseconds and percent, as in the intent."""

    platform: str
    asic: str
    ports: tuple[str, ...]
    mtu_bytes: int
    roce: Roce
    cnp: Cnp
    watchdog: Watchdog

    def as_dict(self) -> dict[str, Any]:
        """Plain data for Ansible; from_dict() reads it."""
        return {**asdict(self), "ports": list(self.ports)}

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> SwitchProfile:
        """Take what as_dict() gave, after it went through Ansible. Raises KeyError or TypeError for other keys."""
        nested = {"roce": Roce(**raw["roce"]), "cnp": Cnp(**raw["cnp"]), "watchdog": Watchdog(**raw["watchdog"])}
        return cls(**{**raw, "ports": tuple(raw["ports"]), **nested})


def switch_profile(fabric: Fabric, name: str) -> SwitchProfile:
    """The profile of the switch `name`. Raises IntentError when no entry of drawbridge_fabric.switches has it."""
    for kind in fabric.switches:
        if hostlist.contains(kind.names, name):
            return SwitchProfile(
                platform=kind.platform,
                asic=kind.asic,
                ports=tuple(ports.expand(kind.ports)),
                mtu_bytes=fabric.switch_mtu_bytes,
                roce=fabric.roce,
                cnp=fabric.cnp,
                watchdog=fabric.watchdog,
            )
    raise IntentError(
        [
            Fault(
                "drawbridge_fabric.switches",
                [kind.names for kind in fabric.switches],
                f"none of them is {name}",
                f"describe {name} there, or take it out of the group switches",
            )
        ]
    )
