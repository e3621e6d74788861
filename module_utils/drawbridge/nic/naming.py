# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Failures that name what failed: the step has the port, the option, and its wanted and actual value."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..core.converge import DeviceError, Step


@contextlib.contextmanager
def named(step: Step[Any]) -> Iterator[None]:
    """Put the step before the message of a failure, which is a tool's own."""
    try:
        yield
    except DeviceError as err:
        raise DeviceError(f"{step.reason}: {err}", **err.details) from err
