# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All state checks. They only read, so preflight, health and the proof may run them at any time."""

from __future__ import annotations

from .check import Check
from .state_gpus import GPU_CHECKS
from .state_ports import PORT_CHECKS
from .state_rails import RAIL_CHECKS

STATE_CHECKS: tuple[Check, ...] = (*RAIL_CHECKS, *PORT_CHECKS, *GPU_CHECKS)
