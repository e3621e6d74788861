# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Command lines and what they printed, as text: `$` before a command, `!` before an error, `=` before the exit code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PORTS = Path(__file__).parents[1] / "transcripts/nic/dcb/ports.txt"


@dataclass(frozen=True)
class Call:
    """One command line and its result."""

    command: str
    rc: int = 0
    out: str = ""
    err: str = ""


def parse(text: str) -> list[Call]:
    """The calls of a transcript; each line that ended with a line break is one here."""
    return [_call(block) for block in ("\n" + text).split("\n$ ")[1:]]


def _call(block: str) -> Call:
    command, *lines = block.removesuffix("\n").split("\n")
    rc = int(lines.pop().removeprefix("= ")) if lines and lines[-1].startswith("= ") else 0
    errors = [line.removeprefix("! ") for line in lines if line.startswith("! ")]
    printed = [line for line in lines if not line.startswith("! ")]
    return Call(command, rc, _text(printed), _text(errors))


def written(calls: list[Call]) -> str:
    """The calls as a transcript."""
    lines: list[str] = []
    for call in calls:
        lines += [f"$ {call.command}", *call.out.splitlines(), *(f"! {line}" for line in call.err.splitlines())]
        lines += [f"= {call.rc}"] if call.rc else []
    return _text(lines)


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


RECORDED = parse(PORTS.read_text())
"""What dcb said on the ports of the driver."""
