# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Undo a change on a switch whose system has no timer that would: by the lines that lead back."""

from __future__ import annotations

from typing import Callable

from ..core.converge import DeviceError
from .plan import Config, Syntax, difference, way_back


def go_back(read: Callable[[], Config], send: Callable[[str], str], syntax: Syntax, name: str, before: Config) -> str:
    """Drop the lines of the change `name` that wait, type the way back, and return the result as a clause."""
    try:
        config = read()
        strategy = syntax.strategy(config.own)
        for left in config.stale:
            send(strategy.abort(left))
        if lines := way_back(syntax, config, before):
            for line in strategy.change(name, 0, lines, config.own):
                send(line)
        config = read()
    except DeviceError as err:
        return f"it could not be undone ({err}): if it is in force, the next run proves it or rolls it back"
    wrong = difference(config, before)
    return f"the change is not undone: {wrong}, unlike before" if wrong else "the change was rolled back"
