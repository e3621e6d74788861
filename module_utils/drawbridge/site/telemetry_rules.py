# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules between metrics and what they are about."""

from __future__ import annotations

from collections.abc import Iterator

from ..core import hostlist
from ..core.faults import Fault
from ..fabric.model import Fabric
from ..telemetry.model import Telemetry

_READER = "drawbridge_telemetry.switches"


def read_switches_exist(telemetry: Telemetry, fabric: Fabric | None) -> Iterator[Fault]:
    """The reader has switches, and those that it leaves out are some of them."""
    reader = telemetry.switches
    if not reader:
        return
    known = [name for kind in (fabric.switches if fabric else ()) for name in hostlist.expand(kind.names)]
    if not known:
        yield Fault(f"{_READER}.host", reader.host, "drawbridge_fabric has no switches to read", f"remove {_READER}")
        return
    if unknown := [name for name in hostlist.expand(reader.left_out) if name not in known]:
        reason = "drawbridge_fabric.switches has no such switch"
        repair = "name switches of drawbridge_fabric.switches, or take it out"
        yield Fault(f"{_READER}.left_out", hostlist.compress(unknown), reason, repair)


RULES = (read_switches_exist,)
