# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The release that an emulated switch runs. A system says from which release on it takes a command, with the source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY = "version"
"""Of the state; a system has a release of its own for a state without it."""


def numbers(release: str) -> list[int]:
    """Return the numbers of a release: 10, 3 and 8 of 10.3(8)."""
    return [int(number) for number in re.findall(r"\d+", release)]


def release(state: Mapping[str, Any], usual: str) -> str:
    """Return the release of a switch."""
    return state.get(KEY, usual)


def older(state: Mapping[str, Any], usual: str, than: str) -> bool:
    """Say whether a switch runs a release before another one."""
    return numbers(release(state, usual)) < numbers(than)
