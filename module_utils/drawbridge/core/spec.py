# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Argument specs and documentation, made from the declaration of the intent."""

from __future__ import annotations

import dataclasses
import json
import typing
from collections.abc import Mapping
from typing import Any

from .options import required

Spec = dict[str, Any]


def documented(cls: type) -> Spec:
    """The dataclass as an option of a role's argument_specs: type, description and nested options."""
    return _record(cls)


def elements(cls: type) -> Spec:
    """A list of such options."""
    return {**_record(cls), "type": "list", "elements": "dict"}


def bare(option: Spec) -> Spec:
    """The option for a module's ARGUMENT_SPEC, without descriptions."""
    kept = {key: value for key, value in option.items() if key != "description"}
    if "options" in kept:
        kept["options"] = {name: bare(part) for name, part in kept["options"].items()}
    return kept


def fragment(options: Mapping[str, Spec]) -> str:
    """Options of a module as the text of a documentation fragment. JSON is YAML."""
    return json.dumps({"options": {name: _paged(option) for name, option in options.items()}})


def _paged(option: Spec) -> Spec:
    page = {key: value for key, value in option.items() if key != "options"}
    if "options" in option:
        page["suboptions"] = {name: _paged(part) for name, part in option["options"].items()}
    return page


def _record(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    options = {field.name: _option(hints[field.name], field) for field in dataclasses.fields(cls)}
    return {"type": "dict", "description": _summary(cls), "options": options}


def _option(hint: Any, field: dataclasses.Field[Any]) -> dict[str, Any]:
    rules = field.metadata
    spec = {**_type(hint), "description": _sentence(rules)}
    if rules["choices"]:
        spec["choices"] = list(rules["choices"])
    default = field.metadata["default"]
    if default is dataclasses.MISSING:
        spec["required"] = True
    elif default is not None and not dataclasses.is_dataclass(default):
        spec["default"] = _plain(default)
    return spec


def _type(hint: Any) -> dict[str, Any]:
    hint, _unused = required(hint)
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
    """An immutable default as YAML has it."""
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
