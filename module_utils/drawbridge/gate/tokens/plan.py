# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A ServiceAccount's token in a file: when a new one is written."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...core.converge import Step

TOKEN_FILE = {
    "path": {"type": "path", "required": True},
    "namespace": {"type": "str", "required": True},
    "name": {"type": "str", "required": True},
    "owner": {"type": "str", "default": "root"},
    "api_server": {"type": "str", "required": True},
    "ca_file": {"type": "path", "required": True},
    "min_left_s": {"type": "int", "default": 21600},
}
"""Options of gate_token_host that gate_token shares."""


@dataclass(frozen=True)
class TokenState:
    """The token's bearer, from the API server, and the file's owner and mode."""

    subject: str
    """system:serviceaccount:<namespace>:<name>; "" if the server does not accept the token."""
    lasts: bool
    """Whether it stays valid for long enough."""
    owner: str
    mode: str
    why: str = ""
    """The error of a token without a subject."""

    def lines(self) -> list[str]:
        """Bearer, owner and mode, never the token."""
        bearer = self.subject or "none"
        return [f"bearer {bearer}{'' if self.lasts else ', ends soon'}", f"owner {self.owner}", f"mode {self.mode}"]


def plan(have: TokenState, want: TokenState) -> list[Step[TokenState]]:
    """Replace the whole file."""
    if replace(have, why="") == want:
        return []
    if have.subject != want.subject:
        cause = have.why or f"it is the token of {have.subject}"
    elif not have.lasts:
        cause = "the present token ends soon"
    else:
        cause = f"it is {have.owner}'s with mode {have.mode}"
    return [Step(f"write a token of {want.subject}: {cause}", lambda _: want)]
