# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Role documentation from the intent's own declaration, so that the two can't disagree."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any

from .load import DOMAINS


def argument_spec() -> dict[str, Any]:
    """Options of roles/cluster_intent: one dict a domain, nested as the dataclasses are."""
    return {f"drawbridge_{domain}": {**_record(cls), "required": True} for domain, cls in DOMAINS.items()}


def _record(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    options = {field.name: _option(hints[field.name], field) for field in dataclasses.fields(cls)}
    return {"type": "dict", "description": [_summary(cls)], "options": options}


def _option(hint: Any, field: dataclasses.Field[Any]) -> dict[str, Any]:
    rules = field.metadata
    spec = {**_type(hint), "description": [_sentence(rules)]}
    if rules["choices"]:
        spec["choices"] = list(rules["choices"])
    if field.default is dataclasses.MISSING:
        spec["required"] = True
    elif not dataclasses.is_dataclass(field.default):
        spec["default"] = _plain(field.default)
    return spec


def _type(hint: Any) -> dict[str, Any]:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint):
        record = _record(typing.cast(type, hint))
        return {"type": "dict", "options": record["options"]}
    if origin is tuple:
        element = _type(args[0])
        spec = {"type": "list", "elements": element["type"]}
        return {**spec, "options": element["options"]} if "options" in element else spec
    if origin in (dict, Mapping):
        # Ansible can't describe the values of a mapping whose keys are the site's own names
        return {"type": "dict"}
    return {"type": {bool: "bool", int: "int", str: "str"}[hint]}


def _plain(default: Any) -> Any:
    """What YAML calls an immutable default."""
    if isinstance(default, tuple):
        return list(default)
    return dict(default) if isinstance(default, Mapping) else default


def _sentence(rules: Any) -> str:
    text = rules["doc"][0].upper() + rules["doc"][1:]
    low, high = rules["low"], rules["high"]
    if low is not None:
        text += f" ({low} to {high})" if high is not None else f" (at least {low})"
    return f"{text}."


def _summary(cls: type) -> str:
    return (cls.__doc__ or "").strip().splitlines()[0]
