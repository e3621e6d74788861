# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
import pytest

from lab.errors import LabError
from lab.hosts.paths import Paths


@pytest.mark.parametrize("number", ["100", "-1", "one", "", "²"])
def test_a_number_that_makes_no_subnet_is_refused(number):
    with pytest.raises(LabError, match="set a number from 0 to 99"):
        Paths.of({"LAB_ID": number})


def test_two_labs_share_only_the_cache():
    first, second = Paths.of({"LAB_ID": "1"}), Paths.of({"LAB_ID": "2"})
    assert first.cache == second.cache
    for place in ("state", "lock", "bridge", "fabric", "cgroup", "clock", "user_key"):
        assert getattr(first, place) != getattr(second, place)


def test_the_lock_outlives_the_state():
    paths = Paths.of({"LAB_ID": "3"})
    assert paths.state not in paths.lock.parents
