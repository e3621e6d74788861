# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a person must allow before it is done, and the line that allows it, in the words of who reads the message.

A consent has the name of the module's option that gives it. The option `variables` maps options to the variables by
which the caller's users know them: a role sets it, so that no module has to know its roles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VARIABLES_ARGUMENT: dict[str, Any] = {"variables": {"type": "dict", "default": {}}}


@dataclass(frozen=True)
class Consent:
    """A boolean option that must be true, and the sentence, up to the line to add, for those who have not set it."""

    option: str
    why: str

    def unless_given(self, options: Mapping[str, Any]) -> str:
        """The sentence with the line to add; empty if the consent is given."""
        return "" if options.get(self.option) else f"{self.why} {variable(options, self.option)}: true"


def variable(options: Mapping[str, Any], option: str) -> str:
    """How users call an option of the module."""
    return str((options.get("variables") or {}).get(option, option))
