# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What one switch needs of the fabric: the lossless class and the ports that carry it, without vendor syntax."""

from __future__ import annotations

from ..core import hostlist, ports
from ..core.faults import Fault, IntentError
from .model import Fabric, SwitchProfile


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
    listed, repair = [kind.names for kind in fabric.switches], f"add {name} there, or remove it from the group switches"
    raise IntentError([Fault("drawbridge_fabric.switches", listed, f"none of them is {name}", repair)])
