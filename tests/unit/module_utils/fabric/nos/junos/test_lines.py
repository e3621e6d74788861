# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.junos.lines import (
    Statements,
    sections_of,
)

from tests.unit.emulated_switch import profile

COS = "class-of-service"


def section(name: str, *lines: str) -> tuple[str, ...]:
    return dict(sections_of(Statements.of("\r\n".join(lines)), replace(profile("junos"), ports=("et-0/0/1",))))[name]


def test_a_port_has_its_own_statements_and_the_default_mtu() -> None:
    found = section(
        "interface et-0/0/1",
        f"set {COS} interfaces et-0/0/1 scheduler-map OTHER",
        f"set {COS} interfaces et-0/0/1 unit 0 rewrite-rules dscp OTHER",
        f"set {COS} interfaces et-0/0/1 unit 0 classifiers ieee-802.1 OTHER",
        f"set {COS} interfaces et-0/0/10 scheduler-map OTHER",
        "set interfaces et-0/0/10 mtu 9000",
        "set interfaces et-0/0/1 unit 0 family inet mtu 9000",
    )
    assert found == ("interface et-0/0/1", "   class-of-service scheduler-map OTHER", "   mtu 1514")


def test_what_overrules_the_class_on_a_port_is_owned() -> None:
    found = section(
        "interface et-0/0/1",
        f"set {COS} interfaces et-0/0/1 forwarding-class-set X output-traffic-control-profile Y",
        f"set {COS} interfaces et-0/0/1 unit 0 forwarding-class best-effort",
        "set interfaces et-0/0/1 ether-options flow-control",
        "set interfaces et-0/0/1 mtu 9000",
    )
    assert len(found) == 5


def test_a_deactivated_statement_is_owned_if_an_active_one_is() -> None:
    found = section(
        "interface et-0/0/1",
        f"deactivate {COS} interfaces et-0/0/1 scheduler-map",
        f"deactivate {COS} interfaces et-0/0/1 unit 0 rewrite-rules",
        "deactivate interfaces et-0/0/1 description",
    )
    assert found[1:] == ("   deactivate class-of-service scheduler-map", "   mtu 1514")


def test_cable_length_and_size_of_a_code_point_belong_to_the_site() -> None:
    path = f"{COS} congestion-notification-profile ROCE input"
    found = section(
        "congestion notification profile ROCE",
        f"set {path} cable-length 40",
        f"set {path} dscp code-point 011010 pfc mru 9216",
        f"set {COS} congestion-notification-profile ROCE-2 input cable-length 40",
    )
    assert found == (f"{path} dscp code-point 011010 pfc",)


def test_the_lists_of_a_drop_profile_keep_their_order() -> None:
    lines = [f"{COS} drop-profiles ROCE interpolate fill-level {level}" for level in (90, 10)]
    assert section("drop profile", *(f"set {line}" for line in lines)) == tuple(lines)
