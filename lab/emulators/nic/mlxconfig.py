# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""mlxconfig's query: a firmware's parameters with their default, current and next values; for tests without hosts.

State: `devices`, by PCI address, each with (default, current, next) by parameter. The table is that of the vendor's
test data, exit code 3 that of mstflint 4.31 without a device.
"""

from __future__ import annotations

import sys

from ..common import REFUSE, Call, host_device


def main(name: str, argv: list[str]) -> int:
    """Run `mlxconfig -d PCI -e query PARAMETER...` and return its exit code."""
    device = host_device("mlxconfig")
    with Call(device, name, argv) as call, device.state({"devices": {}}) as state:
        pci, wanted = argv[argv.index("-d") + 1], argv[argv.index("query") + 1 :]
        if call.fault(writes=False) == REFUSE or pci not in state["devices"]:
            print("-E- Failed to open the device", file=sys.stderr)
            call.rc = 3
            return 3
        print("\nDevice #1:\n----------\n\nDevice type:        ConnectX7\n")
        print(f"{'Configurations:':<44} {'Default':<15} {'Current':<15} {'Next Boot':<15}")
        for parameter in wanted:
            default, current, following = state["devices"][pci][parameter]
            mark = "*" if following != current else " "
            print(f"{mark:<8} {parameter:<35} {default:<15} {current:<15} {following:<15}")
    return 0
