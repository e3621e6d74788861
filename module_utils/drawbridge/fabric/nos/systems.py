# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The network operating systems that Drawbridge configures; each has a folder of its name beside this file."""

from __future__ import annotations

SYSTEMS = ("eos",)
"""`platform` of drawbridge_fabric.switches. A new system needs its folder, its emulator and its name here."""
