# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages about role variables that no role takes."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.role_variables import (
    faults,
    options,
    role_of,
    unknown_variable,
)

PLACE = "group_vars/nodes.yml"
DECLARED: dict[str, dict[str, Any]] = {
    "a_role_seconds": {"type": "int", "description": ["How long it may take.", "In seconds."]},
    "a_role_may": {"type": "bool"},
    "a_role_state": {"type": "str", "choices": ["present", "absent"]},
    "a_role_key": {"type": "int", "no_log": True},
    "a_role_ports": {
        "type": "list",
        "elements": "dict",
        "options": {"name": {"type": "str", "required": True}, "speed": {"type": "int"}},
    },
    "a_role_any": {"type": "raw"},
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("a_role_seconds", 5), ("a_role_seconds", "5"), ("a_role_may", "no"), ("a_role_state", "absent")),
        *(("a_role_ports", [{"name": "rail0", "speed": 400}]), ("a_role_any", {"what": "ever"})),
    ],
)
def test_what_ansible_takes_is_taken(name: str, value: Any) -> None:
    assert faults(name, DECLARED[name], value, PLACE) == []


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("a_role_seconds", "soon", "write a whole number: How long it may take. In seconds"),
        ("a_role_may", "perhaps", "The value 'perhaps' is not a valid boolean; write true or false"),
        ("a_role_state", "gone", "write one of present, absent"),
        ("a_role_ports", [{"speed": 400}], "missing required arguments: name found in a_role_ports; write a list"),
        ("a_role_ports", [{"name": "x", "sped": 1}], "there is no key a_role_ports.sped. Supported parameters include"),
    ],
)
def test_what_ansible_refuses_is_refused(name: str, value: Any, sentence: str) -> None:
    [fault] = faults(name, DECLARED[name], value, PLACE)
    assert fault.key == f"{name} ({PLACE})"
    assert fault.value == value
    assert sentence in str(fault)


def test_a_secret_is_not_shown() -> None:
    [fault] = faults("a_role_key", DECLARED["a_role_key"], "squeamish", PLACE)
    assert "squeamish" not in str(fault)
    [fault] = faults("outer", {"type": "dict", "options": {"key": DECLARED["a_role_key"]}}, {"key": "ossifrage"}, PLACE)
    assert "ossifrage" not in str(fault)


def test_a_name_that_no_role_has_is_reported_with_the_nearest() -> None:
    fault = unknown_variable("a_role", DECLARED, "a_role_second", PLACE)
    assert str(fault).startswith(f'a_role_second ({PLACE}) is "(not shown)", but role a_role has no such variable')
    assert fault.repair == "write a_role_seconds, or rename your own variable"
    assert (
        "ansible-doc -t role drawbridge.drawbridge.a_role "
        in unknown_variable("a_role", DECLARED, "a_role_x", PLACE).repair
    )


def test_the_longest_prefix_has_the_variable() -> None:
    assert role_of("a_role_of_mine_x", ["a_role", "a_role_of_mine", "b"]) == "a_role_of_mine"
    assert role_of("a_rolex", ["a_role"]) == ""


def test_all_entry_points_declare() -> None:
    assert set(options({"main": {"options": {"a": {}}}, "more": {"options": {"b": {}}}, "bare": {}})) == {"a", "b"}
