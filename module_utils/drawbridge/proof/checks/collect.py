# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of a node together: what runs once for all of them, and what each of them found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..measure import Found
from ..node import ProofNode
from .check import Check, Output, Program, Texts


def programs(checks: Iterable[Check], node: ProofNode) -> list[Program]:
    """Programs of all checks that apply, each one once. Several checks read the output of one call."""
    found: list[Program] = []
    for check in checks:
        found += [one for one in (check.programs(node) if check.applies(node) else ()) if one not in found]
    return found


def files(checks: Iterable[Check], node: ProofNode) -> list[str]:
    """Paths of all checks that apply, each one once; some have `*`."""
    return list(dict.fromkeys(path for check in checks if check.applies(node) for path in check.files(node)))


def results(
    checks: Iterable[Check], node: ProofNode, ran: Iterable[tuple[Program, Output]], texts: Texts
) -> Iterator[tuple[Check, list[Found]]]:
    """What each check that applies found. `ran` has the programs of programs(), `texts` the files of files()."""
    outputs = list(ran)
    for check in checks:
        if check.applies(node):
            own = [next(out for program, out in outputs if program == one) for one in check.programs(node)]
            yield check, check.found(node, own, texts)
