# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site as sites

from tests.unit.module_utils.proof.schedule.simulated import fabric


def test_a_unit_is_divided_where_nodes_differ_in_their_number_of_rails_and_nodes_without_rails_are_left_out() -> None:
    leaves = {"a": ("x", "y"), "b": ("x",), "c": ("z",)}
    site = sites.site_of({"u": ["a", "b"], "v": ["c", "cpu01"]}, leaves, group=4)
    assert (site.units, site.leaves) == (
        {"u/2": ("a",), "u/1": ("b",), "v": ("c",)},
        {"u/2": ("x", "y"), "u/1": ("x",), "v": ("z",)},
    )
    assert (site.group, site.rails("u/2", "v"), site.leaf_pairs("u/2", "u/1")) == (4, (0,), [])
    with pytest.raises(ValueError, match="nodes with the same leaves"):
        sites.site_of({"u": ["a", "b"]}, {"a": ("x",), "b": ("y",)})


def test_the_digest_follows_nodes_leaves_and_sizes() -> None:
    assert len({fabric(*args).digest for args in [(8, 4), (9, 4), (8, 8), (8, 4, 2), (8, 4, 8, True)]}) == 5
    assert fabric(8, 4).digest == fabric(8, 4).digest != fabric(8, 4, group=4).digest


def test_the_bounds_allow_for_one_fault_in_64_nodes() -> None:
    assert [fabric(8).faults, fabric(1280).faults, fabric(8, most=2).faults] == [8, 20, 2]


@pytest.mark.parametrize(
    ("kind", "rails", "ports", "text"),
    [
        (sites.RAILS, (0, 1), [("a", 0), ("a", 1), ("b", 0), ("b", 1)], "rails a,b rail 0,1"),
        (sites.PATH, (3,), [("a", 3), ("b", 3)], "path a -> b rail 3"),
        (sites.CROSSING, (1, 2), [("a", 1), ("b", 2)], "crossing a,b rail 1,2"),
        (sites.INCAST, (0,), [("a", 0), ("b", 0)], "incast b -> a rail 0"),
    ],
)
def test_ports_and_text_of_a_test(kind: str, rails: tuple[int, ...], ports: list[object], text: str) -> None:
    test = sites.Test(kind, ("a", "b"), rails)
    assert (list(test.ports()), str(test)) == (ports, text)


def test_flows_leave_a_leaf_where_the_next_node_has_another_one() -> None:
    site = fabric(4, 2, 2)
    ring = sites.Test(sites.RAILS, ("n0", "n1", "n2", "n3"), (0, 1))
    assert sites.uplink_flows(site, [ring]) == {"u0r0": 1, "u0r1": 1, "u1r0": 1, "u1r1": 1}
    path = sites.Test(sites.PATH, ("n0", "n2"), (1,))
    assert sites.uplink_flows(site, [path, path]) == {"u0r0": 0, "u0r1": 2, "u1r0": 0, "u1r1": 0}
