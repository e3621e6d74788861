# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.passport_io import is_signed, sign
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import (
    FAILED,
    PROVED,
    NodeVerdict,
    Result,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run import store_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.progress import Progress
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.store_io import StoreFiles

from .pretended import START, settings

PROGRESS = Progress("digest", "2026-11-29T00:00:00+00:00", ["n00000"], {})
NODES = (NodeVerdict("n1", "big", "u0", PROVED), NodeVerdict("n2", "big", "u0", FAILED))


def result(at: int = 0, complete: bool = True) -> Result:
    began = START + timedelta(hours=at)
    return Result("2.0.0", "lab", began.isoformat(), (began + timedelta(minutes=5)).isoformat(), complete, NODES)


@pytest.fixture
def store(tmp_path: Path) -> StoreFiles:
    return StoreFiles(tmp_path / "proof")


def test_only_root_enters_its_folders(store: StoreFiles) -> None:
    folders = [store.folder, *(it for it in store.folder.iterdir() if it.is_dir())]
    assert [it.stat().st_mode & 0o777 for it in folders] == [0o700] * 2


def test_the_state_of_a_run_is_read_again(store: StoreFiles) -> None:
    assert store.load(settings()) is None
    store.save(PROGRESS)
    store.save(replace(PROGRESS, ended=True))
    assert StoreFiles(store.folder).load(settings()) == replace(PROGRESS, ended=True)
    assert {it.name for it in store.folder.iterdir()} == {"run.json", "results"}


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"digest": 1}'])
def test_a_state_of_another_release_is_none(store: StoreFiles, text: str) -> None:
    (store.folder / "run.json").write_text(text)
    assert store.load(settings()) is None


def test_a_state_is_whole_after_a_kill_while_it_is_written(store: StoreFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    store.save(PROGRESS)
    monkeypatch.setattr(store_io.json, "dump", lambda _data, file: file.write("{") and 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.save(replace(PROGRESS, ended=True))
    assert store.load(settings()) == PROGRESS


def test_the_complete_result_before_another_one_is_found(store: StoreFiles) -> None:
    for at in (0, 1, 2, 3):
        store.keep(result(at, complete=at != 2))
    (store.folder / "results/2026-11-29T023000.json").write_text("{")
    assert store.earlier(result(3).started) == result(1)
    assert store.earlier(result(0).started) is None


def test_the_newest_results_are_kept(store: StoreFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_io, "KEPT", 2)
    paths = [store.keep(result(at)) for at in (0, 1, 2)]
    assert [it.exists() for it in paths] == [False, True, True]


def test_a_node_was_proved_when_it_last_passed(store: StoreFiles) -> None:
    assert store.proved == {}
    store.keep(result(0))
    store.keep(replace(result(1), nodes=(replace(NODES[0], verdict=FAILED), replace(NODES[1], verdict=PROVED))))
    assert store.proved == {"n1": result(0).ended, "n2": result(1).ended}


def test_the_key_is_made_once_and_signs(store: StoreFiles) -> None:
    public = store.public_key()
    assert StoreFiles(store.folder).public_key() == public
    assert is_signed("text\n", sign("text\n", str(store.key)), public)


def test_one_proof_at_a_time(store: StoreFiles) -> None:
    with store.locked(), pytest.raises(DeviceError, match="another proof runs"), StoreFiles(store.folder).locked():
        pass
    with store.locked():
        pass


def test_the_kernel_ends_the_lock_of_a_process_that_was_killed(store: StoreFiles) -> None:
    program = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, 2); print('has it', flush=True); input()"
    argv = [sys.executable, "-IS", "-c", program, str(store.folder / "lock")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout and other.stdout.readline()
        with pytest.raises(DeviceError), store.locked():
            pass
        other.kill()
    with store.locked():
        pass


@pytest.mark.parametrize(("minutes", "due"), [(0, False), (59, False), (60, True), (600, True), (-1, True)], ids=str)
def test_a_patrol_is_due_after_an_hour_and_when_the_clock_was_set_back(
    store: StoreFiles, minutes: int, due: bool
) -> None:
    assert store.patrol_is_due(START)
    later: datetime = START + timedelta(minutes=minutes)
    assert store.patrol_is_due(later) is due
    assert not store.patrol_is_due(later if due else START)
