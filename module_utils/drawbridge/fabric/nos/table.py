# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of dialects: `platform` of drawbridge_fabric.switches, and who speaks it."""

from __future__ import annotations

from .eos import text as eos

DIALECTS = {"eos": eos.DIALECT}
