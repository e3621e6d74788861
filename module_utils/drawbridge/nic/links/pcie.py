# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The register Device Control of a PCI Express function, as setpci reads and writes it."""

from __future__ import annotations

READ_REQUEST, ORDERING = "PCIe read request", "PCIe relaxed ordering"
"""How many bytes one read of memory asks for, and whether writes may pass each other."""
PCIE = (READ_REQUEST, ORDERING)
REGISTER = "CAP_EXP+08.w"
LEAST_BYTES = 128
"""A read request is this, doubled as often as three bits of the register say."""
READ_REQUEST_BITS, ORDERING_BIT = 0x7000, 0x0010
SIZES = tuple(LEAST_BYTES << code for code in range(6))
WORDS = ("disabled", "enabled")


def settings(word: str) -> dict[str, str]:
    """Both settings, from the register in hexadecimal digits. Raises ValueError for other text."""
    value = int(word, 16)
    return {
        READ_REQUEST: str(LEAST_BYTES << ((value & READ_REQUEST_BITS) >> 12)),
        ORDERING: WORDS[bool(value & ORDERING_BIT)],
    }


def operation(setting: str, value: str) -> str:
    """What setpci gets to change one setting and no other bit."""
    if setting == READ_REQUEST:
        return f"{REGISTER}={SIZES.index(int(value)) << 12:04x}:{READ_REQUEST_BITS:04x}"
    return f"{REGISTER}={ORDERING_BIT * WORDS.index(value):04x}:{ORDERING_BIT:04x}"
