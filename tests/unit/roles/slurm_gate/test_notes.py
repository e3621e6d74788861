# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from roles.slurm_gate.files.gate.notes import Notes
from tests.unit.roles.slurm_gate.cluster import Made
from tests.unit.roles.slurm_gate.test_repair import locked_elsewhere


def test_a_note_is_there_until_it_is_forgotten(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.write("run-7", {"restart": 1})
    assert Notes(tmp_path).read("run-7") == {"restart": 1}
    assert notes.names("run-") == ["run-7"]
    notes.forget("run-7")
    notes.forget("run-7")
    assert notes.read("run-7") == {}


def test_what_a_power_cut_left_of_a_note_is_no_note(tmp_path: Path) -> None:
    (tmp_path / "boot").write_text('{"id": ')
    assert Notes(tmp_path).read("boot") == {}


def test_a_lock_shuts_out_others_and_jobs_do_not_wait_for_each_other(at: Made) -> None:
    with locked_elsewhere(at, 7):
        with at.notes.locked(7, wait=False) as free:
            assert not free
        with at.notes.locked(8, wait=False) as free:
            assert free
    with at.notes.locked(7, wait=False) as free:
        assert free
