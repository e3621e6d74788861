# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links.routes import (
    NO_ROUTES,
    Rail,
    Routing,
    address,
    changes,
    foreign,
    own_gateway,
    routes,
    routing,
    rules,
)
from hypothesis import given
from hypothesis import strategies as st

# captured: iproute2 6.1 on Linux 6.18; only the rule of priority 1000 is Drawbridge's
RULES = """[{"priority":0,"src":"all","table":"255"},{"priority":1000,"src":"10.10.0.1","table":"1000","protocol":"4"},
{"priority":1001,"src":"10.10.0.0","srclen":16,"table":"1000"},{"priority":1002,"src":"10.10.0.1","iif":"lo",
"table":"1002"},{"priority":1003,"not":null,"src":"10.10.0.1","table":"1003"},
{"priority":1004,"src":"10.10.0.1","action":"blackhole"},{"priority":32766,"src":"all","table":"254"}]"""
ROUTES = """[{"dst":"default","gateway":"10.10.255.254","dev":"rail0","table":"1000","protocol":"4",
"prefsrc":"10.10.0.1","flags":[]},{"dst":"10.10.0.0/16","dev":"rail0","table":"1000","protocol":"4","scope":"253","prefsrc":"10.10.0.1",
"flags":["linkdown"]},{"dst":"10.10.0.0/16","dev":"rail0","protocol":"2","scope":"253",
"prefsrc":"10.10.0.1","flags":[]},{"type":"2","dst":"10.10.0.1","dev":"rail0","table":"255","protocol":"2","scope":"254",
"prefsrc":"10.10.0.1","flags":[]}]"""
ADDRESSES = """[{"family":"inet","local":"10.9.9.9","prefixlen":32,"scope":"global"},{"family":"inet",
"local":"169.254.0.1","prefixlen":16,"scope":"link"},{"family":"inet","local":"10.10.0.1","prefixlen":16,"scope":"global"},{"family":"inet",
"local":"10.10.0.7","prefixlen":16,"scope":"global","secondary":true},{"family":"inet6","local":"fe80::1",
"prefixlen":64,"scope":"link"}]"""
GOAL = routing("rail0", "10.10.0.1/16", Rail(1000, "last"))


def found(tables: range) -> Routing:
    return Routing(rules(json.loads(RULES), tables), routes(json.loads(ROUTES), tables))


def test_what_ip_prints_is_what_ip_was_given() -> None:
    assert found(range(1000, 1001)) == Routing(GOAL.rules, tuple(sorted(GOAL.routes)))
    assert list(changes(found(range(1000, 1001)), {"rail0": GOAL}, [])) == []
    assert found(range(0)) == NO_ROUTES


@pytest.mark.parametrize("table", range(1001, 1005))
def test_a_rule_that_cant_be_ours_is_named(table: int) -> None:
    assert foreign(found(range(table, table + 1)), ["rail0"]).startswith(f"rule priority {table} from 10.10.0.")


def test_a_route_of_another_device_is_named() -> None:
    there = found(range(1000, 1001))
    assert foreign(there, ["rail0"]) == ""
    assert foreign(there, ["rail"]).startswith("route 10.10.0.0/16 table 1000 dev rail0")


def test_the_address_is_the_first_that_has_a_subnet() -> None:
    assert address(json.loads(ADDRESSES)) == "10.10.0.1/16"
    assert address([]) == ""


@pytest.mark.parametrize(
    ("own", "gateway", "via"),
    [
        ("10.10.0.9/16", "first", "10.10.0.1"),
        ("10.10.0.9/16", "last", "10.10.255.254"),
        ("10.10.0.9/31", "first", "10.10.0.8"),
        ("10.10.0.8/31", "last", "10.10.0.9"),
    ],
)
def test_the_gateway_is_an_end_of_the_subnet(own: str, gateway: str, via: str) -> None:
    assert routing("rail0", own, Rail(7, gateway)).routes[1][1].startswith(f"via {via} dev rail0")


def test_a_device_that_is_its_own_gateway() -> None:
    assert own_gateway({"rail0": GOAL, "rail1": routing("rail1", "10.11.0.1/16", Rail(1001, "first"))}) == "rail1"
    assert own_gateway({"rail0": GOAL}) == ""


def test_a_duplicate_rule_is_removed_once() -> None:
    twice = Routing(GOAL.rules * 2, GOAL.routes)
    found = [" ".join(change.argv) for change in changes(twice, {"rail0": GOAL}, [])]
    assert found == ["rule del priority 1000 from 10.10.0.1 lookup 1000"]


RULE = st.builds("priority {} from 10.10.0.{} lookup 1000".format, st.sampled_from([1000, 1001]), st.integers(1, 3))
PLACES = st.sampled_from(["10.10.0.0/16 table 1000", "default table 1000", "10.9.0.0/16 table 1000 metric 5"])


@given(st.lists(RULE, max_size=4), st.dictionaries(PLACES, st.sampled_from(["dev rail0", "dev rail0 src 10.10.0.1"])))
def test_from_anywhere_the_changes_end_where_nothing_is_left(there: list[str], table: dict[str, str]) -> None:
    before = Routing(tuple(sorted(there)), tuple(sorted(table.items())))
    steps = list(changes(before, {"rail0": GOAL}, []))
    after = steps[-1].after if steps else before
    assert after == Routing(GOAL.rules, tuple(sorted(GOAL.routes)))
    assert list(changes(after, {"rail0": GOAL}, [])) == []
