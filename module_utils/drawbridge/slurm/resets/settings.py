# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The configuration of the program that begins budgets anew and closes accounts. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from ..budget.period import MONTHS


@dataclass(frozen=True)
class Settings:
    """What the site has."""

    cluster: str
    periods: Mapping[str, str]
    """The kind of period of each QOS whose budget begins anew."""
    ends: Mapping[str, str]
    """The last day of accounts, such as 2027-03-31."""

    @staticmethod
    def parse(text: str) -> Settings:
        """From JSON; keys of newer versions are ignored. Raises ValueError."""
        try:
            shown = json.loads(text)
            found = Settings(str(shown["cluster"]), dict(shown["periods"]), dict(shown["ends"]))
        except (LookupError, TypeError) as err:
            raise ValueError(f"{type(err).__name__}: {err}") from err
        if unknown := sorted(set(found.periods.values()) - set(MONTHS)):
            raise ValueError(f"{unknown[0]} is no period; use one of {', '.join(MONTHS)}")
        return found
