# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Statements as Junos keeps and prints them."""

from __future__ import annotations

import pytest

from lab.emulators.fabric.junos import schema, statements
from lab.emulators.fabric.switch import Refused

COS = "class-of-service"


def typed(*lines: str) -> statements.Config:
    config: statements.Config = []
    for line in lines:
        verb, *words = schema.split(line)
        {"set": statements.set_, "delete": statements.delete}.get(
            verb, lambda config, words, on=verb == "activate": statements.switch(config, words, on=on)
        )(config, words)
    return config


def test_a_value_replaces_the_old_one_and_a_list_grows_at_its_end():
    levels = [f"set {COS} drop-profiles X interpolate fill-level {level}" for level in (55, 90, 20)]
    assert statements.printed(typed(*levels)) == levels
    queue = f"{COS} forwarding-classes class X queue-num"
    assert typed(f"set {queue} 3", f"set {queue} 4") == [f"{queue} 4"]


def test_an_object_without_statements_keeps_its_name_until_it_is_deleted():
    lines = [f"set {COS} schedulers X priority low", f"delete {COS} schedulers X priority low"]
    assert statements.printed(typed(*lines)) == [f"set {COS} schedulers X"]
    assert typed(*lines, f"delete {COS} schedulers X") == []
    again = f"set {COS} schedulers X priority strict-high"
    assert statements.printed(typed(*lines, again)) == [again]


def test_what_is_not_there_is_deleted_with_a_warning():
    assert statements.delete(typed(), ["system", "host-name"]) == "warning: statement not found"


def test_ports_are_printed_by_their_numbers_before_class_of_service():
    ports = [f"set interfaces et-0/0/{number} mtu 9000" for number in (2, 10)]
    classes = f"set {COS} forwarding-classes class X no-loss"
    assert statements.printed(typed(classes, ports[1], ports[0])) == [*ports, classes]


def test_what_is_deactivated_is_written_down_and_not_in_force():
    line = f"{COS} schedulers X priority low"
    config = typed(f"set {line}", f"deactivate {COS} schedulers X")
    assert statements.printed(config) == [f"set {line}", f"deactivate {COS} schedulers X"]
    assert statements.in_force(config) == []
    assert statements.switch(config, [COS, "schedulers", "X"], on=True) == ""
    assert statements.in_force(config) == [line]


def test_a_group_gives_what_a_port_does_not_have():
    config = typed(
        "set groups fabric interfaces <et-*> mtu 9000",
        "set apply-groups fabric",
        "set interfaces et-0/0/0 description one",
        "set interfaces et-0/0/1 mtu 1500",
    )
    assert statements.value(statements.in_force(config), "interfaces et-0/0/0 mtu") == "9000"
    assert statements.value(statements.in_force(config), "interfaces et-0/0/1 mtu") == "1500"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("interfaces et-0/0/0 mtu 9300", r"^error: Value 9300 is not within range \(256\.\.9216\)$"),
        (f"{COS} forwarding-classes class X pfc-priority 8", "not within range"),
        (f"{COS} classifiers dscp X forwarding-class Y loss-priority low code-points 26", "invalid value: 26"),
        (f"{COS} schedulers X prioriy low", r"\^\nsyntax error\.$"),
        (f"{COS} schedulers X", "syntax error"),
    ],
)
def test_what_the_schema_lacks_is_refused(line, words):
    with pytest.raises(Refused, match=words):
        statements.set_([], line.split())
