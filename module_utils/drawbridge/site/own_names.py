# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Names that begin as Drawbridge's own, and that nothing reads: a wrong one would be no fault, and have no effect."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from ..core.faults import HIDDEN, Fault
from .model import DOMAINS, ENTRIES

PREFIX = "drawbridge_"
"""Of the variables of the intent: a domain follows, or one entry of a domain's list."""
_ENTRIES = tuple(f"{PREFIX}{it}" for it in ENTRIES.values())
_DOMAINS = tuple(f"{PREFIX}{it}" for it in DOMAINS)


def of_intent(names: Iterable[str]) -> list[str]:
    """The variables of the intent among these names: domains in their order, then single entries by name."""
    have = {name for name in names if name.startswith(PREFIX)}
    return [*(it for it in _DOMAINS if it in have), *sorted(it for it in have if it.startswith(_ENTRIES))]


def by_end(names: Iterable[str]) -> dict[str, str]:
    """The variables of the intent by what follows their beginning."""
    return {name.removeprefix(PREFIX): name for name in of_intent(names)}


def spelling_faults(names: Iterable[str], prefixes: tuple[str, ...], place: str) -> Iterator[Fault]:
    """Faults of names such as drawbridge-fabric, which would be Drawbridge's own with small letters and underscores."""
    for name in names:
        right = name.lower().replace("-", "_")
        if right != name and right.startswith(prefixes):
            reason = "names of variables have small letters and underscores, so nothing reads it"
            yield Fault(f"{name} ({place})", HIDDEN, reason, f"write {right}, or rename your own variable")


def unread(names: Iterable[str], known: Iterable[str], place: str) -> Iterator[Fault]:
    """Faults of names in Drawbridge's space that are none of the known ones.

    Values are hidden, as they may be secrets. A name with a dot is what people write for a key of a variable: Ansible
    takes it for a name of its own.
    """
    own = [*known]
    for name in sorted(name for name in names if name.startswith(PREFIX) and name not in own):
        if name.startswith(_ENTRIES) and "." not in name:
            continue
        head, dot, keys = name.partition(".")
        if dot and head in own:
            reason = f"Ansible takes it for one name, and not for a key of {head}"
            repair = f"write {keys.replace('.', ': {')}: ... below {head} in the inventory's group_vars/all"
        else:
            reason = f"nothing reads it, and names that begin with {PREFIX} are Drawbridge's own"
            near = difflib.get_close_matches(head.removeprefix(PREFIX), [it.removeprefix(PREFIX) for it in own], 1)
            repair = f"write {PREFIX}{near[0]}" if near else f"use one of {', '.join(sorted(own))}"
            repair += ", or rename your own variable"
        yield Fault(f"{name} ({place})", HIDDEN, reason, repair)
