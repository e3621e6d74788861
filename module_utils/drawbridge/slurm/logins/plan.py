# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of who may log in to a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...core.converge import Step
from .text import LOGIND


@dataclass(frozen=True)
class LoginState:
    """PAM's lines of Drawbridge by file, and whether sessions of systemd can be made."""

    blocks: Mapping[str, str]
    masked: bool
    refused: str = field(default="", compare=False)
    """Why the wanted state would lock out who connects here."""

    def lines(self) -> list[str]:
        """Each file with its lines."""
        found = [f"{path}: {line}" for path, text in sorted(self.blocks.items()) for line in text.splitlines()]
        return [*found, f"{LOGIND} is {'masked' if self.masked else 'not masked'}"]


def plan(have: LoginState, want: LoginState) -> list[Step[LoginState]]:
    """Sessions end first: a login that is adopted must stay in its job."""
    mask = Step[LoginState](f"mask {LOGIND}", lambda state: replace(state, masked=True), refused=want.refused)
    return [
        *([mask] if want.masked and not have.masked else []),
        *(_block(path, text, want) for path, text in want.blocks.items() if have.blocks.get(path) != text),
    ]


def _block(path: str, text: str, want: LoginState) -> Step[LoginState]:
    def becomes(state: LoginState) -> LoginState:
        return replace(state, blocks={**state.blocks, path: text})

    return Step(f"write a block in {path}", becomes, path, refused=want.refused)
