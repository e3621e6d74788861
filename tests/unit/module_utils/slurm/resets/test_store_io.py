# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.resets.memory import Entry
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.resets.store_io import Store

ENTRIES = {"pb": Entry("2027-03-01")}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "budget")


def test_a_lock_keeps_others_out_until_it_ends(store: Store) -> None:
    with store.locked() as mine, Store(store.folder).locked() as theirs:
        assert (mine, theirs) == (True, False)
    with store.locked() as again:
        assert again


def test_all_may_read_the_record(store: Store) -> None:
    assert store.load() == {}
    store.save(ENTRIES)
    assert store.load() == ENTRIES
    assert store.record.stat().st_mode & 0o777 == 0o644


def test_a_record_that_is_broken_names_its_repair(store: Store) -> None:
    store.save({})
    store.record.write_text("{")
    with pytest.raises(DeviceError, match=r"periods.json can't be read .*; remove it, and each QOS goes on until"):
        store.load()


def test_a_record_that_can_not_be_written_is_an_error(store: Store) -> None:
    store.folder.parent.joinpath("budget").write_text("a file")
    with pytest.raises(DeviceError, match="can't be written"):
        store.save(ENTRIES)
