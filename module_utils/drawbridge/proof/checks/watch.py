# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All watch checks. Health runs them, besides the state checks, while a node is in service."""

from __future__ import annotations

from .check import Check
from .state_gpus import WATCHED
from .watch_rates import RATE_CHECKS
from .watch_system import SYSTEM_CHECKS
from .watch_units import UNIT_CHECKS

WATCH_CHECKS: tuple[Check, ...] = (*RATE_CHECKS, *WATCHED, *UNIT_CHECKS, *SYSTEM_CHECKS)
