# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Compares role variables that a site sets with those that roles declare, once for all hosts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.errors import AnsibleValidationError, UnsupportedError

from ..core.faults import HIDDEN, Fault

Spec = Mapping[str, Any]
EXPECTED = {
    "bool": "true or false",
    "dict": "keys and values",
    "float": "a number",
    "int": "a whole number",
    "list": "a list",
    "path": "a path",
    "str": "a text",
}


def role_of(name: str, roles: Iterable[str]) -> str:
    """The role whose prefix a variable has, or ""."""
    return max((role for role in roles if name.startswith(f"{role}_")), key=len, default="")


def options(entry_points: Mapping[str, Spec]) -> dict[str, Spec]:
    """Declared variables of all entry points of a role."""
    return {name: spec for entry in entry_points.values() for name, spec in entry.get("options", {}).items()}


def unknown_variable(role: str, declared: Mapping[str, Spec], name: str, place: str) -> Fault:
    """A variable with a role's prefix that the role does not declare. Its value is hidden, as it may be a secret."""
    prefix = f"{role}_"
    near = difflib.get_close_matches(name.removeprefix(prefix), [other.removeprefix(prefix) for other in declared], 1)
    repair = (
        f"write {prefix}{near[0]}"
        if near
        else f"see ansible-doc -t role drawbridge.drawbridge.{role} for its variables"
    )
    reason = f"role {role} has no such variable, and names that begin with {prefix} are its own"
    return Fault(f"{name} ({place})", HIDDEN, reason, f"{repair}, or rename your own variable")


def faults(name: str, spec: Spec, value: Any, place: str) -> list[Fault]:
    """Faults of the value of a declared variable."""
    result = ArgumentSpecValidator({name: dict(spec)}).validate({name: value}, validate_role_argument_spec=True)
    key, shown = f"{name} ({place})", HIDDEN if _secret(spec) else value
    return [Fault(key, shown, _reason(error, spec), f"write {_expected(spec)}") for error in result.errors.errors]


def _reason(error: AnsibleValidationError, spec: Spec) -> str:
    """Ansible's own message without its list of booleans. It quotes values, so not for secrets."""
    if _secret(spec):
        return "the role does not accept such a value"
    message = error.msg.partition(" Valid booleans include")[0].rstrip(".")
    return f"there is no key {message}" if isinstance(error, UnsupportedError) else message


def _expected(spec: Spec) -> str:
    """Words for a correct value."""
    if choices := spec.get("choices"):
        return f"one of {', '.join(map(str, choices))}"
    kind = EXPECTED.get(spec.get("type", "str"), "a value")
    described = " ".join(spec["description"]) if isinstance(spec.get("description"), list) else spec.get("description")
    return f"{kind}: {described}".rstrip(".") if described else kind


def _secret(spec: Spec) -> bool:
    """Whether the value, or a part of it, is a secret."""
    return bool(spec.get("no_log")) or any(map(_secret, (spec.get("options") or {}).values()))
