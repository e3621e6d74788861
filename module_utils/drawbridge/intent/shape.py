# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Mappings from an inventory to frozen dataclasses: types, ranges, choices, unknown and missing keys.

One declaration serves three times: it reads the inventory, it documents the role (argument_specs are generated from
it), and it types the views. Every fault is collected, so that one run names all of them.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
import typing
from typing import Any

from .. import hostlist
from .fault import MISSING, Fault

NAME = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
"""A DNS label: what Slurm, Kubernetes and GPFS all accept as the name of a node or a namespace."""


def option(
    doc: str,
    default: Any = dataclasses.MISSING,
    *,
    low: int | None = None,
    high: int | None = None,
    choices: tuple[str, ...] = (),
    pattern: str = "",
    hosts: bool = False,
) -> Any:
    """A documented key of the intent.

    `low` and `high` bound integers, `choices` and `pattern` texts; `hosts` makes the text a hostlist expression.
    """
    rules = {"doc": doc, "low": low, "high": high, "choices": choices, "pattern": pattern, "hosts": hosts}
    if isinstance(default, (dict, list)):
        raise TypeError("a default is immutable: use a tuple or a frozen dataclass")
    return dataclasses.field(default=default, metadata=rules)


class Reader:
    """Reads raw values into dataclasses and collects what is wrong with them."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def refuse(self, key: str, value: Any, reason: str, repair: str) -> None:
        """Note a fault and go on."""
        self.faults.append(Fault(key, value, reason, repair))

    def record(self, cls: type, raw: Any, key: str) -> Any:
        """An instance of `cls`, or None when something in it is wrong."""
        if not isinstance(raw, dict):
            if raw is MISSING or raw is None:
                self.refuse(key, MISSING, "nothing can be built without it", f"describe {key} in group_vars/all")
            else:
                self.refuse(key, raw, "a mapping is expected here", f"write {key} as keys and values")
            return None
        before = len(self.faults)
        hints = typing.get_type_hints(cls)
        fields = {field.name: field for field in dataclasses.fields(cls)}
        for unknown in sorted(set(map(str, raw)) - set(fields)):
            near = difflib.get_close_matches(unknown, fields, 1)
            known = f"write {near[0]}" if near else f"use one of {', '.join(sorted(fields))}"
            self.refuse(f"{key}.{unknown}", raw.get(unknown), "there is no such key", known)
        values = {}
        for name, field in fields.items():
            if name in raw:
                values[name] = self.value(hints[name], raw[name], f"{key}.{name}", field.metadata)
            elif field.default is dataclasses.MISSING:
                self.refuse(
                    f"{key}.{name}", MISSING, f"it has no default ({field.metadata['doc']})", f"set {key}.{name}"
                )
        return cls(**values) if len(self.faults) == before else None

    def value(self, hint: Any, raw: Any, key: str, rules: Any) -> Any:
        """The value of one key, checked against its type and rules."""
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if dataclasses.is_dataclass(hint):
            return self.record(typing.cast(type, hint), raw, key)
        if origin is tuple:
            return self._sequence(args[0], raw, key, rules)
        if origin is dict:
            return self._mapping(args[1], raw, key, rules)
        if hint is bool:
            return self._bool(raw, key)
        return self._int(raw, key, rules) if hint is int else self._text(raw, key, rules)

    def _sequence(self, hint: Any, raw: Any, key: str, rules: Any) -> tuple[Any, ...]:
        if not isinstance(raw, (list, tuple)):
            self.refuse(key, raw, "a list is expected here", f"write {key} as a list, also when it has one element")
            return ()
        return tuple(self.value(hint, item, f"{key}[{index}]", rules) for index, item in enumerate(raw))

    def _mapping(self, hint: Any, raw: Any, key: str, rules: Any) -> dict[str, Any]:
        if not isinstance(raw, dict):
            self.refuse(key, raw, "a mapping of names is expected here", f"write {key} as name: {{...}}")
            return {}
        for name in raw:
            if not re.fullmatch(NAME, str(name)):
                self.refuse(f"{key}.{name}", name, "names are lower-case letters, digits and dashes", "rename it")
        return {str(name): self.value(hint, item, f"{key}.{name}", rules) for name, item in raw.items()}

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
            self.refuse(key, raw, "it is not a text", "write it in quotes")
            return ""
        if rules["choices"] and raw not in rules["choices"]:
            self.refuse(key, raw, "it is not one of the choices", f"write one of {', '.join(rules['choices'])}")
        if rules["pattern"] and not re.fullmatch(rules["pattern"], raw):
            self.refuse(key, raw, f"it does not match {rules['pattern']}", f"write {rules['doc']}")
        if rules["hosts"]:
            self._hosts(raw, key)
        return raw

    def _hosts(self, raw: str, key: str) -> None:
        try:
            names = hostlist.expand(raw)
        except hostlist.HostlistError as err:
            self.refuse(key, raw, f"Slurm can't read it as a hostlist: {err}", "write a hostlist such as gpu[01-64]")
            return
        if not names:
            self.refuse(key, raw, "it names no host", "name at least one host")
        doubled = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        if doubled:
            self.refuse(key, raw, f"it names {hostlist.compress(doubled)} twice", "name every host once")
