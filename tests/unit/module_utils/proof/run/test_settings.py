# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.settings import (
    Placed,
    Settings,
)

from .pretended import settings


def test_nodes_have_their_class_their_unit_and_their_leaves() -> None:
    found = settings(8, per_unit=4)
    assert list(found.placed) == [f"n{number:05}" for number in range(8)]
    assert found.placed["n00005"] == Placed("big", "u1", ("u1r0", "u1r1"))
    assert (found.node("n00005").name, found.build("n00005").name) == ("n00005", "")
    assert (found.partition, found.per_hour, found.uplinks["u0r0"]) == ("p", 0, 1600)
    with pytest.raises(KeyError):
        found.node("n00008")


def test_addresses_follow_the_order_of_names() -> None:
    raw = dict(settings(4, per_unit=2).raw)
    raw["ranges"] = [{**raw["ranges"][0], "addresses": "10.0.0.[7-8]"}, raw["ranges"][1]]
    assert Settings(raw).addresses == {"n00000": "10.0.0.7", "n00001": "10.0.0.8"}


def test_a_passport_is_of_a_class() -> None:
    assert settings(passport=True).wants_passport("n00000")
    assert not settings().wants_passport("n00000")


def test_the_search_has_the_wanted_nodes_by_unit() -> None:
    site = settings(8, group=5, incast=3).site(["n00006", "n00001"])
    assert site.units == {"u0": ("n00001",), "u1": ("n00006",)}
    assert (site.leaves["u1"], site.group, site.incast) == (("u1r0", "u1r1"), 5, 3)


@pytest.mark.parametrize(("key", "value"), [("mtu_bytes", 0), ("rails", [])])
def test_a_network_of_the_site_and_nodes_without_rails_are_not_searched(key: str, value: object) -> None:
    found = settings(4)
    found.raw["classes"]["big"][key] = value
    found.raw["ranges"][0]["leaves"] = [] if key == "rails" else ["u0r0", "u0r1"]
    assert found.site(list(found.placed)).units == {}


def test_the_leaf_of_a_bonds_first_member_stands_for_the_rail() -> None:
    found = settings(2, rails=2)
    found.raw["ranges"][0]["leaves"] = ["a", "b", "c", "d"]
    assert found.site(list(found.placed)).leaves == {"u0": ("a", "c")}


def test_the_digest_changes_with_any_setting_and_not_with_the_order_of_keys() -> None:
    found = settings()
    assert Settings(dict(reversed([*found.raw.items()]))).digest == found.digest
    assert settings(group=31).digest != found.digest


@pytest.mark.parametrize("text", ["", "[]", "{"])
def test_a_text_that_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Settings.parse(text)
