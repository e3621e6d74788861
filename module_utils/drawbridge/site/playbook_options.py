# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Compares the variables of one run with the options that its playbook has."""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.faults import HIDDEN, MISSING, Fault
from ..core.reader import BOOLS

EXTRA = "--extra-vars"
RAW = "_raw_params"
"""The variable in which Ansible puts words of -e that set no variable."""
BOOLEANS = (*BOOLS, "1", "0")
FILE = re.compile(r"[^\s=]+\.(ya?ml|json)")


@dataclass(frozen=True)
class Option:
    """A variable that a person sets for one run. The table of options explains each key."""

    name: str
    playbooks: Sequence[str]
    description: str
    example: Any
    default: Any = None
    required: bool = False
    nodes: bool = False
    old: str = ""
    passed_as: str = ""
    group: str = ""

    @property
    def prefix(self) -> str:
        """What its name begins with: the name of its only playbook, or a word of its own."""
        word = self.playbooks[0] if len(self.playbooks) == 1 else self.name.partition("_")[0]
        return f"{word}_"


def read(table: Mapping[str, Mapping[str, Any]]) -> list[Option]:
    """The options of a table, in its order."""
    return [Option(name=name, **row) for name, row in table.items()]


def of_playbook(options: Iterable[Option], playbook: str) -> list[Option]:
    """The options of one playbook."""
    return [option for option in options if playbook in option.playbooks]


def prefixes(options: Iterable[Option]) -> tuple[str, ...]:
    """What names of options begin with."""
    return tuple(dict.fromkeys(option.prefix for option in options))


def typed(name: str, value: Any) -> str:
    """What a person types to set a variable, quoted for a shell. It is JSON if Ansible would split the value."""
    plain = not isinstance(value, (bool, list, dict)) and re.fullmatch(r"[^\s'\"{}\\]*", str(value))
    return f"-e {shlex.quote(f'{name}={value}' if plain else json.dumps({name: value}, default=str))}"


@dataclass(frozen=True)
class Given:
    """The options that a run got."""

    table: Sequence[Option]
    playbook: str
    places: Mapping[str, Mapping[str, Any]]
    """Variables of this run alone, by the place that sets them."""
    known: Container[str]
    """Names of all variables, also of those that a site has for itself."""

    def faults(self) -> list[Fault]:
        """Old names, names that are no option, and options that the playbook needs."""
        found = [fault for place, variables in self.places.items() for fault in self._of(place, variables)]
        absent = [option for option in self._own() if option.required and self._lacks(option)]
        return [*found, *(_missing(option, self.playbook) for option in absent)]

    def selecting(self) -> str:
        """The option that selects nodes, if the run has it. One that is missing, or has its old name, is a fault."""
        return next((option.name for option in self._own() if option.nodes and option.name in self.known), "")

    def naming(self) -> list[tuple[str, str]]:
        """The options that name a host, if the run has them, each with the group that must have the host."""
        return [(option.name, option.group) for option in self._own() if option.group and option.name in self.known]

    def _own(self) -> list[Option]:
        return of_playbook(self.table, self.playbook)

    def _lacks(self, option: Option) -> bool:
        """Whether it has the option under no name. A site's own variable may have the old name."""
        renamed = any(option.old in variables for variables in self.places.values())
        return option.name not in self.known and not renamed

    def _of(self, place: str, variables: Mapping[str, Any]) -> Iterator[Fault]:
        yield from _renamed(self._own(), variables, place)
        yield from _unknown_options(self.table, variables, place)
        if place == EXTRA:  # it would win over what the importing playbook hands to the other one
            yield from _passed(self._own(), self.playbook, variables)
            yield from _without_value(self.table, variables)
            yield from _wrong_value(self.table, variables)


def _missing(option: Option, playbook: str) -> Fault:
    return Fault(option.name, MISSING, f"{playbook}.yml needs it", f"add {typed(option.name, option.example)}")


def _renamed(own: Iterable[Option], given: Mapping[str, Any], place: str) -> Iterator[Fault]:
    for option in own:
        if option.old in given:
            value = given[option.old]
            reason = f"{option.old} is now {option.name}"
            yield Fault(f"{option.old} ({place})", value, reason, f"write {typed(option.name, value)}")


def _passed(own: Iterable[Option], playbook: str, given: Mapping[str, Any]) -> Iterator[Fault]:
    for option in own:
        if option.passed_as in given:
            value = given[option.passed_as]
            reason = f"{playbook}.yml gives {option.passed_as} the value of {option.name}"
            yield Fault(f"{option.passed_as} ({EXTRA})", value, reason, f"write {typed(option.name, value)}")


def _without_value(options: Iterable[Option], given: Mapping[str, Any]) -> Iterator[Fault]:
    """Words that set no variable, and options with an empty value, which an unset variable of a shell leaves."""
    if words := given.get(RAW):
        shown = words if FILE.fullmatch(str(words)) else HIDDEN  # a value after a blank may be a secret
        reason = "a word without = sets no variable, and a blank ends a value"
        repair = f"write -e @{words}" if shown == words else "quote a value with blanks twice: -e 'NAME=\"A B\"'"
        yield Fault(EXTRA, shown, reason, repair)
    for option in options:
        # an option that selects nodes has a sentence of its own
        if given.get(option.name) == "" and not option.nodes:
            repair = f"{_like(option)}, or leave it out"
            yield Fault(f"{option.name} ({EXTRA})", "", "it has no value", repair)


def _wrong_value(options: Iterable[Option], given: Mapping[str, Any]) -> Iterator[Fault]:
    """Values that are no number or no boolean, where the example is one. Jinja reads them as 0 and as false."""
    for option in options:
        value = given.get(option.name)
        if value in (None, "") or "{{" in str(value):
            continue
        if isinstance(option.example, int) and not re.fullmatch(r"[1-9]\d*", str(value)):
            yield Fault(f"{option.name} ({EXTRA})", value, "it is not a whole number from 1", _like(option))
        elif option.example in ("true", "false") and str(value).lower() not in BOOLEANS:
            yield Fault(f"{option.name} ({EXTRA})", value, "it is neither true nor false", _like(option))


def _like(option: Option) -> str:
    return f"write {typed(option.name, option.example)}"


def _unknown_options(options: Iterable[Option], given: Iterable[str], place: str) -> Iterator[Fault]:
    """Names that look like options. The value is hidden, as a site's own variable may be a secret."""
    names = {option.name: option.prefix for option in options}
    for name in sorted(given):
        prefix = next((prefix for prefix in names.values() if name.startswith(prefix)), "")
        if prefix and name not in names:
            others = [other.removeprefix(prefix) for other in names if names[other] == prefix]
            near = difflib.get_close_matches(name.removeprefix(prefix), others, 2) or others
            reason = f"no playbook has such an option, and names that begin with {prefix} are Drawbridge's own"
            repair = f"write {' or '.join(prefix + other for other in near)}, or rename your own variable"
            yield Fault(f"{name} ({place})", HIDDEN, reason, repair)
