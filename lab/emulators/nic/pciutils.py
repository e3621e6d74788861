# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""setpci and lspci of pciutils on the register Device Control of ports; another register is read as 0.

State: `devices`, the register by PCI address as hexadecimal digits; a boot resets them, a driver's reload does not.
`stubborn` lists devices that ignore a write, `plain` those without a PCI Express capability. Texts and exit codes are
those of pciutils 3.9: without a device, and when the kernel refuses a write, setpci warns and ends with 0.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from ..common import DIE, DRIFT, LIE, REFUSE, Call, Killed, boot_id, host_device, sysfs

FACTORY = "2910"
"""Read requests of 512 bytes; relaxed ordering, extended tags and no-snoop are on."""
REGISTER = re.compile(r"(?i)CAP_EXP\+0?8\.w(?:=([0-9a-f]{1,4})(?::([0-9a-f]{1,4}))?)?")
NO_DEVICE = "setpci: Warning: No devices selected for operation group {}."
NO_CAPABILITY = "setpci: {}: Instance #0 of Capability 0010 not found - there are no capabilities with that id."
REFUSED = "pcilib: sysfs_write: write failed: Operation not permitted"


def main(name: str, argv: list[str]) -> int:
    """Run `setpci (-s DEVICE REGISTER[=VALUE[:MASK]]...)...` or `lspci -vv [-s DEVICE]`; return the exit code."""
    device = host_device("pciutils")
    with Call(device, name, argv) as call:
        effect = call.fault(writes=name == "setpci" and any("=" in word for word in argv))
        with device.state({"devices": {}}) as state:
            if state.get("boot_id") != boot_id():
                state.update(boot_id=boot_id(), devices={})
            if name == "lspci":
                return _listed(state, argv)
            call.rc = _operations(state, argv, effect)
        if effect == DIE:
            raise Killed
    return call.rc or 0


def _operations(state: dict[str, Any], argv: list[str], effect: str | None) -> int:
    address, group = "", 0
    words = iter(argv)
    for word in words:
        if word == "-s":
            address, group = _full(next(words)), group + 1
            if not _exists(address):
                print(NO_DEVICE.format(group), file=sys.stderr)
        elif address and _exists(address):
            if address in state.get("plain", ()):
                print(NO_CAPABILITY.format(address), file=sys.stderr)
                return 1
            _operation(state, address, word, effect)
    return 0


def _operation(state: dict[str, Any], address: str, word: str, effect: str | None) -> None:
    match = REGISTER.fullmatch(word)
    old = int(state["devices"].get(address, FACTORY), 16)
    if match is None or match.group(1) is None:
        print(f"{old if match else 0:04x}")
        return
    value, mask = (int(text or "ffff", 16) for text in match.groups())
    if effect == REFUSE:
        print(REFUSED, file=sys.stderr)
    elif effect not in (LIE, DIE) and address not in state.get("stubborn", ()):
        state["devices"][address] = f"{int(FACTORY, 16) if effect == DRIFT else old & ~mask | value & mask:04x}"


def _listed(state: dict[str, Any], argv: list[str]) -> int:
    only = _full(argv[argv.index("-s") + 1]) if "-s" in argv else ""
    for path in sorted((sysfs() / "class/net").glob("*/device")):
        address = path.resolve().name
        if only in ("", address):
            value = int(state["devices"].get(address, FACTORY), 16)
            print(f"{address[5:]} Ethernet controller: Mellanox Technologies MT2910 Family [ConnectX-7]")
            print("\tCapabilities: [60] Express (v2) Endpoint, MSI 00")
            print("\t\tDevCtl:\tCorrErr- NonFatalErr- FatalErr- UnsupReq-")
            ordering, tags, snoop = ("+" if value >> bit & 1 else "-" for bit in (4, 8, 11))
            print(f"\t\t\tRlxdOrd{ordering} ExtTag{tags} PhantFunc- AuxPwr- NoSnoop{snoop} FLReset-")
            print(f"\t\t\tMaxPayload 128 bytes, MaxReadReq {128 << (value >> 12 & 7)} bytes\n")
    return 0


def _full(address: str) -> str:
    return address if address.count(":") == 2 else f"0000:{address}"


def _exists(address: str) -> bool:
    return any(path.resolve().name == address for path in (sysfs() / "class/net").glob("*/device"))
