# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.people import (
    NO_GROUP,
    NO_NAME,
    of_group,
    users,
)

PASSWD = "root:x:0:0::/root:/bin/sh\nada:x:2001:2000::/:/bin/sh\nben:x:2002:2002::/:/bin/sh\n"


def test_members_are_those_of_the_list_and_those_whose_own_group_it_is() -> None:
    assert of_group("people:x:2000:ben,eve\n", PASSWD) == ("ada", "ben", "eve")
    assert of_group("empty:x:9:\n", PASSWD) == ()
    assert of_group("odd line\n", PASSWD) == ()


def test_declared_users_come_first_and_each_once() -> None:
    found = users(["zoe", "ben"], ["a", "b"], {"a": ("ada", "ben"), "b": ("ada", "root")})
    assert found == (["zoe", "ben", "ada"], {})


def test_people_that_slurm_can_not_have_and_groups_that_are_missing_have_reasons() -> None:
    found = users(["ben"], ["a", "b"], {"a": ("Ada", "eve", "4711")})
    assert found == (["ben", "eve"], {"the members of group b": NO_GROUP, "Ada": NO_NAME, "4711": NO_NAME})
