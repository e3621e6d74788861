# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Packages of the machine that runs Ansible. Nodes lack them, so each file must load without them."""

from __future__ import annotations

import importlib
import sys
from typing import Any, NoReturn

from .converge import DeviceError


class Absent:
    """Takes the place of a missing package. The first use of it is an error with the repair."""

    def __init__(self, package: str) -> None:
        self._package = package

    def __getattr__(self, name: str) -> NoReturn:
        raise DeviceError(
            f"the Python that runs Ansible, {sys.executable}, has no {self._package}; install requirements.lock into it"
        )


def library(name: str) -> Any:
    """A package or one of its modules. It is imported at once, so that Ansible's forked processes share it."""
    try:
        return importlib.import_module(name)
    except ImportError as err:
        return Absent(err.name or name)
