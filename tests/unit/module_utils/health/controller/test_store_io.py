# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller import store_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.history import Entry
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.memory import Notes
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.store_io import (
    Busy,
    Store,
)

ONE, TWO = Entry(1, "n1", "found", "a"), Entry(2, "n2", "gone", "b")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = Store(tmp_path / "health")
    with found.locked():
        return found


def test_a_lock_keeps_others_out_until_it_ends(store: Store) -> None:
    with store.locked(), pytest.raises(Busy), Store(store.folder).locked():
        raise AssertionError("two at once")
    with store.locked():
        pass


def test_a_person_waits_for_the_end_of_a_look(store: Store) -> None:
    held, got = threading.Event(), threading.Event()

    def person() -> None:
        held.wait(60)
        with Store(store.folder).locked(60):
            got.set()

    waiting = threading.Thread(target=person)
    waiting.start()
    with store.locked():
        held.set()
        assert not got.is_set()
    waiting.join(120)
    assert got.is_set()


def test_the_memory_is_replaced_at_once_and_for_root_alone(store: Store) -> None:
    with pytest.raises(FileNotFoundError):
        store.load()
    for looked in (1, 2):
        store.save(Notes(looked=looked))
    assert store.load() == Notes(looked=2)
    assert store.memory.stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in store.folder.iterdir()) == ["lock", "memory.json"]
    store.forget()
    store.forget()
    assert not store.memory.exists()


def test_a_link_in_place_of_the_memory_is_not_followed(store: Store, tmp_path: Path) -> None:
    (tmp_path / "other").write_text(Notes().text())
    store.memory.symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic links"):
        store.load()


def test_the_history_grows_and_survives_a_torn_line(store: Store) -> None:
    store.append([])
    assert not store.history.exists()
    store.append([ONE])
    with store.history.open("a") as file:
        file.write('{"time": 3, "no')
    store.append([TWO])
    assert store.entries() == [ONE, TWO]
    assert store.history.stat().st_mode & 0o777 == 0o644


def test_the_history_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_io, "MOST_BYTES", 200)
    entries = [Entry(at, "n1", "found", "x" * 20) for at in range(40)]
    for entry in entries:
        store.append([entry])
    files = sorted(store.folder.glob("history*"))
    assert [file.name for file in files] == ["history.jsonl", "history.jsonl.1"]
    assert sum(file.stat().st_size for file in files) < 3 * 200
    assert store.entries() == entries[-len(store.entries()) :] and len(store.entries()) >= 3


def test_a_history_that_cannot_be_read_is_none(store: Store) -> None:
    assert store.entries() == []
    store.history.mkdir()
    assert store.entries() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write what others may not")
def test_a_link_in_place_of_the_history_is_not_followed(store: Store, tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    store.history.symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic links"):
        store.append([ONE])
    assert (tmp_path / "other").read_text() == ""
