# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of checks. State checks serve preflight, health and the proof; load checks serve the proof alone."""

from __future__ import annotations

from .check import Check
from .load import LOAD_CHECKS
from .state import STATE_CHECKS
from .state_gpus import NOT_COVERED

CHECKS: tuple[Check, ...] = (*STATE_CHECKS, *LOAD_CHECKS)
"""In the order in which they run: what only reads comes first."""
WARNINGS: frozenset[str] = frozenset((NOT_COVERED,))
"""Names of measurements that may be missing: no node fails by them. Remarks say it themselves."""
