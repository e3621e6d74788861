# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.members.hints import (
    Local,
    foreign,
    unreached,
)


def test_a_foreign_cluster_is_named() -> None:
    assert foreign(Local("4711")).startswith("it has the configuration of another cluster, 4711;")


def test_a_host_that_answers_ansible_is_told_from_one_that_is_off() -> None:
    assert "ssh gpu01 true" in unreached("gpu01", answers=True)
    assert unreached("gpu01", answers=False).endswith("start the host, or repair its network")
