# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Consent: an option that must be true before a step is done, and the sentence that prints the line to add.

The option `variables` maps module options to the role variables that set them. Roles pass it, so that messages can
name a variable and modules need not know any role.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VARIABLES_ARGUMENT: dict[str, Any] = {"variables": {"type": "dict", "default": {}}}


@dataclass(frozen=True)
class Consent:
    """A boolean option that must be true, and the error text that precedes the line to add."""

    option: str
    why: str

    def unless_given(self, options: Mapping[str, Any]) -> str:
        """The error with the line to add; empty if the consent is given."""
        return "" if options.get(self.option) else f"{self.why} {variable(options, self.option)}: true"


def variable(options: Mapping[str, Any], option: str) -> str:
    """The variable that sets an option of the module; without one, the option itself."""
    return str((options.get("variables") or {}).get(option, option))
