# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The network operating systems that Drawbridge configures; each has a folder of its name beside this file."""

from __future__ import annotations

XGS, JERICHO, SPECTRUM, CLOUDSCALE, OTHER = "xgs", "jericho", "spectrum", "cloudscale", "other"
CHIPS = {
    **dict.fromkeys((XGS, "trident2", "trident3", "trident4", "trident5"), XGS),
    **dict.fromkeys(("tomahawk", *(f"tomahawk{number}" for number in range(2, 7))), XGS),
    **dict.fromkeys((JERICHO, "jericho2", "jericho3"), JERICHO),
    **dict.fromkeys((SPECTRUM, "spectrum2", "spectrum3", "spectrum4"), SPECTRUM),
    CLOUDSCALE: CLOUDSCALE,
    OTHER: OTHER,
}
"""What `asic` can name, and its family: chips of one family have the same queues and the same lines."""


def _of(*families: str) -> tuple[str, ...]:
    return tuple(chip for chip, family in CHIPS.items() if family in families)


SYSTEMS = {
    "eos": _of(XGS, JERICHO),
    "nvue": _of(SPECTRUM),
    "sonic": _of(XGS, SPECTRUM),
    "nxos": _of(CLOUDSCALE),
    "junos": ("trident3", "trident4", "tomahawk", "tomahawk2", "tomahawk3", "tomahawk4", "tomahawk5", OTHER),
    "os10": _of(XGS),
}
"""`platform` of drawbridge_fabric.switches, with the ASICs that `asic` can name. A new system needs its folder, its
emulator and a line here."""
ASICS = tuple(CHIPS)
