# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The network operating systems that Drawbridge configures; each has a folder of its name beside this file."""

from __future__ import annotations

SYSTEMS = {
    "eos": ("xgs", "jericho"),
    "nvue": ("spectrum",),
    "sonic": ("xgs", "spectrum"),
    "nxos": ("cloudscale",),
    "junos": ("trident3", "trident4", "tomahawk", "tomahawk2", "tomahawk3", "tomahawk4", "tomahawk5", "other"),
    "os10": ("xgs",),
}
"""`platform` of drawbridge_fabric.switches, with the ASICs that `asic` can name. A new system needs its folder, its
emulator and a line here."""
ASICS = tuple(dict.fromkeys(asic for asics in SYSTEMS.values() for asic in asics))
