# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""lldpctl of lldpd: the switch and port at the other end of each cable, in the form `json0`.

In json0 every element is a list, and an interface is no key. The lab writes the host's cables to a file as
{device: [switch, port]}. State key `neighbours` replaces some of them, as if a cable were plugged in elsewhere; null is
a switch that sends no LLDP.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..common import REFUSE, Call, host_device

if TYPE_CHECKING:
    from ..common import Device

CABLES = "/etc/lab/cables.json"
NO_DAEMON = (
    "[WARN/control] unable to connect to socket /run/lldpd.socket: No such file or directory\n"
    "[WARN/lldpctl] unable to connect to lldpd daemon"
)


def main(name: str, argv: list[str]) -> int:
    """Run the command line and return its exit code."""
    device = host_device("lldpctl")
    with Call(device, name, argv) as call:
        if call.fault(writes=False) == REFUSE:
            print(NO_DAEMON, file=sys.stderr)
            call.rc = 1
        elif argv != ["-f", "json0"]:
            print(f"lldpctl of the lab prints json0 only, not {' '.join(argv)}", file=sys.stderr)
            call.rc = 1
        else:
            print(json.dumps(neighbours(seen(device)), indent=2))
            call.rc = 0
    return call.rc or 0


def _planned() -> dict[str, list[str] | None]:
    return json.loads(Path(os.environ.get("LAB_CABLES", CABLES)).read_text())


def seen(device: Device) -> dict[str, list[str] | None]:
    """Return the switch and port that each port sees by LLDP."""
    with device.state({"neighbours": {}}) as state:
        return {**_planned(), **state["neighbours"]}


def plugged(device: Device) -> dict[str, list[str] | None]:
    """Return the switch and port that each port is plugged into, silent ones too."""
    return {**_planned(), **{name: there for name, there in seen(device).items() if there}}


def neighbours(cables: dict[str, list[str] | None]) -> dict[str, Any]:
    """Return the answer for these cables; without a neighbour it has an empty object."""
    found = [_interface(name, *end) for name, end in cables.items() if end]
    return {"lldp": [{"interface": found} if found else {}]}


def _interface(name: str, switch: str, port: str) -> dict[str, Any]:
    chassis = {"id": [{"type": "mac", "value": "02:00:00:00:00:01"}], "name": [{"value": switch}]}
    there = {"id": [{"type": "ifname", "value": port}], "descr": [{"value": port}], "ttl": [{"value": "120"}]}
    return {"name": name, "via": "LLDP", "rid": "1", "age": "0 day, 00:10:00", "chassis": [chassis], "port": [there]}
