# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Repairs as a reader applies them: a printed sentence becomes a change of the intent."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.faults import Fault

DELETE = "~delete"
Patch = dict[str, Any]


def in_row(key: str) -> str:
    """A fault's key as a row writes it."""
    return re.sub(r"\[(\d+)\]", r".\1", key)


def words(dotted: str) -> list[Any]:
    """The keys of mappings and the places in lists that lead to a value."""
    return [int(word) if word.isdigit() else word for word in dotted.split(".")]


def at(tree: Any, dotted: str) -> Any:
    """The value of a dotted key; None if there is none."""
    for word in words(dotted):
        tree = tree[word] if isinstance(word, int) else (tree or {}).get(word)
    return tree


@dataclass(frozen=True)
class Place:
    """The fault's place in the refused intent."""

    fault: Fault
    key: str
    now: Any

    def put(self, value: Any) -> Patch:
        return {self.key: value}

    def number(self, text: str) -> Patch:
        """Slurm's settings are texts."""
        return self.put(text if isinstance(self.now, str) and "settings" in self.key else int(text))

    def beside(self, name: str) -> str:
        """The key `name` next to the fault's, unless the sentence has it in full."""
        return in_row(name) if name.startswith("drawbridge_") else f"{self.key.rpartition('.')[0]}.{name}"

    def swap(self, new: str) -> Patch:
        """The new word in place of the refused one: in a list, among words with commas, or of the whole value."""
        ignored = re.search("ignore the word '(.*)'", self.fault.reason)
        old = ignored[1] if ignored else self.fault.value
        if isinstance(self.now, list) and old in self.now:
            return self.put([new if each == old else each for each in self.now])
        return self.put(str(self.now).replace(old, new) if ignored else new)

    def take(self, word: str) -> Patch:
        """Out of a list or of words with commas; else the key of that name goes."""
        words = self.now.split(",") if isinstance(self.now, str) else self.now
        if isinstance(words, list) and word in words:
            left = [each for each in words if each != word]
            return self.put((",".join(left) if isinstance(self.now, str) else left) or DELETE)
        return {self.beside(word): DELETE}

    def add(self, word: str) -> Patch:
        return self.put([*self.now, word] if isinstance(self.now, list) else f"{self.now},{word}")

    def rename(self, word: str) -> Patch | None:
        return {self.key: DELETE, self.beside(word): self.now} if re.search(NO_KEY, self.fault.reason) else None

    def marks(self, priority: str, dscp: str) -> Patch:
        return {self.beside("priority"): int(priority), self.beside("dscp"): int(dscp)}

    def pairs(self, *pairs: str) -> Patch:
        """Names and values in turn."""
        return {self.beside(name): yaml.safe_load(value) for name, value in zip(pairs[::2], pairs[1::2])}

    def choose(self, word: str) -> Patch | None:
        """A list of keys is not one of values."""
        return None if re.search(NO_KEY, self.fault.reason) else self.swap(yaml.safe_load(word))


NO_KEY = "no such key|spells it"
SHAPES: tuple[tuple[str, Callable[..., Patch | None]], ...] = (
    (r"write a whole number,? (?:from|at least) (-?\d+)", lambda it, low: it.put(int(low))),
    (r"set (\w+) and (\w+) to at least (\d+)", lambda it, one, two, least: it.pairs(one, least, two, least)),
    (r"(?:write|set \w+ to|set|lower it to) (?:at (?:least|most) )?(\d+)(?:,| or \d+$| in both|$)", Place.number),
    (r"raise (\w+) to at least (\d+)", Place.pairs),
    (r"raise (\S+) above (\d+)", lambda it, name, edge: {it.beside(name): int(edge) + 1}),
    (r"(?:declare it, or )?(?:write|use) one of:? ([^\s,]+)", Place.choose),
    (r"write true or false without quotes", lambda it: it.put(True)),
    (r"write it in quotes", lambda it: it.put(str(it.now))),
    (r"write \S+ as a list", lambda it: it.put([it.now])),
    (r"(?:use|give) .*?(\d) with dscp (\d+)", Place.marks),
    (r"set (\w+): (\d+) and (\w+): (\d+)", Place.pairs),
    (r"(?:set|write) ([\w.\[\]]+): ([^,\[]+?)(?:,| on |$)", Place.pairs),
    (r"set (best-effort|none)\b", Place.put),
    (r"(?:remove it|leave it out)\b", lambda it: it.put(DELETE)),
    (r"(?:set it there, and )?(?:remove|leave out|take) (?!the\b)([^\s,]+)", Place.take),
    (r"add (?!\{|a )(\S+?)(?:$|, or )", Place.add),
    (r"begin at (\d+)", Place.number),
    (r"begin after (\d+)", lambda it, last: it.put(int(last) + 1)),
    (r".*\bsuch as '?(\S+?)'?,?(?: |$)", Place.put),
    (r"write (\w+)(?:$|, or remove)", Place.rename),
    (r"(?:write|use) ([^\s,]+)(?:$|,| or )", Place.swap),
)
"""The first that fits the beginning of a repair is applied; a repair that fits none needs a `fix` in its row."""


def derived(fault: Fault, refused: Mapping[str, Any], good: Mapping[str, Any]) -> Patch | None:
    """The change that the printed repair names; None where the reader must choose."""
    key = in_row(fault.key)
    if found := re.match(r"(?:set|define) (drawbridge_\S+)(?:$| in group_vars/all)", fault.repair):
        value = at(good, in_row(found[1]))
        return None if value is None else {in_row(found[1]): value}
    place = Place(fault, key, at(refused, key))
    for shape, change in SHAPES:
        if (found := re.match(shape, fault.repair)) and (patch := change(place, *found.groups())):
            return patch
    return None
