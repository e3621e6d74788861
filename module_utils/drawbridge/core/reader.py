# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads inventory mappings into frozen dataclasses: types, ranges, choices, unknown and missing keys.

All faults are collected for one report.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import re
import typing
from collections import Counter
from collections.abc import Mapping
from typing import Any

from . import hostlist
from .faults import MISSING, Fault
from .options import NAME, Shape, required

TEMPLATE = re.compile(r"\{\{|\{%")
"""The beginning of what Jinja evaluates. Neither names nor values of Slurm have it."""
BOOLS = ("yes", "no", "on", "off", "true", "false")
"""Words that YAML reads as true or false without quotes."""
NAMES = Shape(NAME, "names", "lower-case letters, digits and dashes")
WORDS = Shape(r"[A-Za-z0-9]+", "names", "letters and digits")
"""Keys of another program's configuration."""


class Reader:
    """Reads raw values into dataclasses and collects their faults.

    Doubled names are found by expanding a hostlist. `expand=False` skips that, so that the cost does not grow with the
    number of hosts.
    """

    def __init__(self, expand: bool = True) -> None:
        self.expand = expand
        self.faults: list[Fault] = []

    def refuse(self, key: str, value: Any, reason: str, repair: str) -> None:
        self.faults.append(Fault(key, value, reason, repair))

    def record(self, cls: type, raw: Any, key: str) -> Any:
        """An instance of `cls`, or None if it has faults."""
        if not isinstance(raw, dict):
            if raw is MISSING or raw is None:
                self.faults.append(lacks(key))
            else:
                self.refuse(key, raw, "a mapping is expected here", f"write {key} as keys and values")
            return None
        before = len(self.faults)
        hints = _hints(cls)
        fields = {field.name: field for field in dataclasses.fields(cls)}
        for unknown in sorted(set(map(str, raw)) - set(fields)):
            near = difflib.get_close_matches(unknown, fields, 1)
            known = f"write {near[0]}" if near else f"use one of {', '.join(sorted(fields))}"
            self.refuse(f"{key}.{unknown}", raw.get(unknown), "there is no such key", known)
        values = {}
        for name, field in fields.items():
            if name in raw:
                values[name] = self.value(hints[name], raw[name], f"{key}.{name}", field.metadata)
            elif field.metadata["default"] is dataclasses.MISSING:
                self.refuse(
                    f"{key}.{name}", MISSING, f"it has no default ({field.metadata['doc']})", f"set {key}.{name}"
                )
        return cls(**values) if len(self.faults) == before else None

    def value(self, hint: Any, raw: Any, key: str, rules: Any) -> Any:
        """The value of one key, checked against its type and rules."""
        hint, optional = required(hint)
        if optional and raw is None:
            return None
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if dataclasses.is_dataclass(hint):
            return self.record(typing.cast(type, hint), raw, key)
        if origin is tuple:
            return self._sequence(args[0], raw, key, rules)
        if origin is Mapping and args[1] is Any:
            return self._tree(raw, key)
        if origin in (dict, Mapping):
            return self._mapping(args[1], raw, key, rules, NAMES if origin is dict else rules.get("keys", WORDS))
        if hint is bool:
            return self._bool(raw, key)
        return self._int(raw, key, rules) if hint is int else self._text(raw, key, rules)

    def _sequence(self, hint: Any, raw: Any, key: str, rules: Any) -> tuple[Any, ...]:
        if "instead" in rules and raw == rules["instead"]:
            return (raw,)
        if not isinstance(raw, (list, tuple)):
            self.refuse(key, raw, "a list is expected here", f"write {key} as a list, also when it has one element")
            return ()
        return tuple(self.value(hint, item, f"{key}[{index}]", rules) for index, item in enumerate(raw))

    def _mapping(self, hint: Any, raw: Any, key: str, rules: Any, names: Shape) -> dict[str, Any]:
        if not isinstance(raw, dict):
            self.refuse(key, raw, "a mapping of names is expected here", f"write {key} as name: {{...}}")
            return {}
        for name in raw:
            if not re.fullmatch(names.pattern, str(name)):
                self.refuse(f"{key}.{name}", name, f"{names.what} are {names.bounds}", "rename it")
        return {str(name): self.value(hint, item, f"{key}.{name}", rules) for name, item in raw.items()}

    def _tree(self, raw: Any, key: str) -> Mapping[str, Any]:
        """A mapping whose shape another program defines; a rule checks it."""
        if not isinstance(raw, Mapping):
            self.refuse(key, raw, "a mapping is expected here", f"write {key} as keys and values")
            return {}
        return raw

    def _bool(self, raw: Any, key: str) -> bool:
        if not isinstance(raw, bool):
            self.refuse(key, raw, "it is neither true nor false", "write true or false without quotes")
        return bool(raw)

    def _int(self, raw: Any, key: str, rules: Any) -> int:
        low, high = rules["low"], rules["high"]
        between = f"a whole number from {low} to {high}" if high is not None else f"a whole number, at least {low}"
        if isinstance(raw, bool) or not isinstance(raw, int):
            self.refuse(key, raw, "it is not a whole number", f"write {between}")
            return 0
        if (low is not None and raw < low) or (high is not None and raw > high):
            self.refuse(key, raw, "it is out of range", f"write {between}")
        return raw

    def _text(self, raw: Any, key: str, rules: Any) -> str:
        if not isinstance(raw, str):
            self.refuse(key, raw, "it is not a text", _as_text(raw, rules))
            return ""
        if TEMPLATE.search(raw) and "content" not in rules:
            self.refuse(key, raw, "Ansible did not evaluate this template", "write the value itself")
            return raw
        if rules["choices"] and raw not in rules["choices"]:
            or_none = ", or leave the key out" if "" in rules["choices"] else ""
            self.refuse(key, raw, "it is not one of the choices", f"{_expected(rules)}{or_none}")
        if rules["pattern"] and not re.fullmatch(rules["pattern"], raw):
            self.refuse(key, raw, f"it is not {rules['shape'].what}", _expected(rules))
        if rules["hosts"] and not (raw == "" == rules["default"]):
            self._hosts(raw, key, rules)
        return raw

    def _hosts(self, raw: str, key: str, rules: Mapping[str, Any]) -> None:
        names: Shape = rules["hosts"]
        try:
            count = hostlist.count(raw)
        except hostlist.HostlistError as err:
            self.refuse(key, raw, f"Slurm can't read it as a hostlist: {err}", _expected(rules))
            return
        if not count:
            self.refuse(key, raw, "it names no host", "name at least one host")
        if bad := [name for name in hostlist.longest(raw) if not re.fullmatch(names.pattern, name)]:
            self.refuse(key, raw, f"{bad[0]} is not {names.what}", f"use {names.bounds}")
            return
        if "repeats" in rules or not self.expand:
            return
        if twice := [name for name, times in Counter(hostlist.expand(raw)).items() if times > 1]:
            self.refuse(key, raw, f"it names {hostlist.compress(sorted(twice))} twice", "name every host once")


def _as_text(raw: Any, rules: Any) -> str:
    """How to write a value that YAML does not read as text. A number needs quotes, and so does a word such as no."""
    if isinstance(raw, (dict, list)):
        return _expected(rules)
    words = BOOLS if isinstance(raw, bool) else ()
    fits = [
        word for word in words if word in (rules["choices"] or words) and re.fullmatch(rules["pattern"] or ".*", word)
    ]
    return "write it in quotes" if fits or not words else _expected(rules)


def _expected(rules: Any) -> str:
    """The repair of a text: what the key takes."""
    if rules["choices"]:
        return f"write one of {', '.join(_in_yaml(word) for word in rules['choices'] if word)}"
    if rules["pattern"]:
        return f"use {rules['shape'].bounds}"
    return "write a hostlist such as gpu[01-64]" if rules["hosts"] else "write one text"


def _in_yaml(word: str) -> str:
    """A text as YAML must have it: without quotes it would be a number, or true or false."""
    return f"'{word}'" if word in BOOLS or re.fullmatch(r"[0-9.]+", word) else word


def lacks(key: str) -> Fault:
    """The fault of a variable that a site must have."""
    return Fault(key, MISSING, "it is required", f"define {key} in group_vars/all")


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    """Types of a dataclass's fields, cached because resolving them costs more than reading the values."""
    return typing.get_type_hints(cls)
