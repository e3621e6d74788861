# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The load checks of one node, in the order in which they run: a broken GPU is known before the long ones begin."""

from __future__ import annotations

from .check import Check
from .load_files import FILE_CHECKS
from .load_gpus import GPU_CHECKS
from .load_node import NODE_CHECKS

LOAD_CHECKS: tuple[Check, ...] = (*GPU_CHECKS, *NODE_CHECKS, *FILE_CHECKS)
