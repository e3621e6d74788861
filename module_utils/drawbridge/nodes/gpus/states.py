# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Readers of the GPUs' state by vendor. They are apart from vendors.py, which each visit of a node carries."""

from __future__ import annotations

from collections.abc import Mapping

from . import amd_state, nvidia_state
from .state import StateReader

STATES: Mapping[str, StateReader] = {"nvidia": nvidia_state.STATE, "amd": amd_state.STATE}
