# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Room for instances on a GPU."""

from __future__ import annotations

from itertools import product as combinations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.profiles import (
    Divisible,
    Profile,
)

GPU = Divisible(3, {"one": Profile(1, 1, (0, 1, 2)), "two": Profile(2, 2, (0, 2)), "all": Profile(3, 4, (0,))})


def test_a_layout_has_room_by_slices_and_places() -> None:
    """Of the four slices of memory, small instances can't have the last; two large ones lack a slice of processors."""
    fits = {
        (one, two, whole)
        for one, two, whole in combinations(range(4), range(3), range(2))
        if GPU.has_room({"one": one, "two": two, "all": whole})
    }
    assert fits == {(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1)}


def test_an_instance_moves_out_of_the_way_of_a_larger_one() -> None:
    narrow = Divisible(9, {"small": Profile(1, 1, (0, 1)), "large": Profile(1, 1, (0,))})
    assert narrow.has_room({"small": 1, "large": 1})
    assert not narrow.has_room({"large": 2})
