# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A ServiceAccount's token in a file: when a new one has to be placed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...core.converge import Step


@dataclass(frozen=True)
class TokenState:
    """Who the API server says the file's bearer is, and who may read the file."""

    subject: str
    """system:serviceaccount:<namespace>:<name>; "" if the server takes the token for nobody's."""
    lasts: bool
    """It stays valid for long enough."""
    owner: str
    mode: str
    why: str = ""
    """What is wrong with a token that has no subject."""

    def lines(self) -> list[str]:
        """Never the token itself."""
        bearer = self.subject or "nobody"
        return [f"bearer {bearer}{'' if self.lasts else ', ends soon'}", f"owner {self.owner}", f"mode {self.mode}"]


def plan(have: TokenState, want: TokenState, handed_over: bool) -> list[Step[TokenState]]:
    """Replace the whole file. Without a token in hand the step is only announced, so that somebody asks for one."""
    if replace(have, why="") == want:
        return []
    if have.subject != want.subject:
        cause = have.why or f"it is the token of {have.subject}"
    elif not have.lasts:
        cause = "the one that is there ends soon"
    else:
        cause = f"it is {have.owner}'s with mode {have.mode}"
    pending = "" if handed_over else "no token was handed over"
    return [Step(f"place a token of {want.subject}: {cause}", lambda _: want, pending=pending)]
