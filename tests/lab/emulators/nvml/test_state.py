# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from lab.emulators.nvml.state import Compute, Fault, Gpu, Instance, State, cap_minors, parsed, proc, shared, text

LINES = """driver 580.159.04
gpu 0 1 00000000:1B:00.0 GPU-a 0 1 0-3,8 NVIDIA H100 80GB HBM3
gi 0 2 9 4 4
ci 0 2 0 2 MIG-b
fault 0 refuse
fault 0 die 3
ecc 0 on
"""
STATE = State(
    [Gpu(1, "00000000:1B:00.0", "GPU-a", "0-3,8", mode=0, pending=1)],
    [Instance(0, 2, 9, 4, 4)],
    [Compute(0, 2, 0, 2, "MIG-b")],
    [Fault(0, "refuse"), Fault(0, "die", 3)],
    others=["ecc 0 on"],
)


def test_the_file_has_a_line_for_each_thing() -> None:
    assert parsed(LINES) == STATE
    assert text(STATE) == LINES


def test_a_line_with_missing_fields_is_refused() -> None:
    with pytest.raises(ValueError, match="unpack"):
        parsed("gpu 0 1\n")


def test_a_change_is_written_in_place(tmp_path: Path) -> None:
    """A lock belongs to the file, not to its name."""
    path = tmp_path / "state"
    path.write_text(LINES)
    inode = path.stat().st_ino
    with shared(path) as state:
        del state.faults[:]
    assert path.read_text() == LINES.replace("fault 0 refuse\nfault 0 die 3\n", "")
    assert path.stat().st_ino == inode


def test_numbers_of_device_files_are_the_drivers() -> None:
    """The guide: gpu0/gi0 is 3. Slurm found 147 and 148 for the first instance of /dev/nvidia1."""
    assert cap_minors(0, 0) == (3, 4)
    assert cap_minors(1, 1) == (147, 148)
    lines = proc(STATE.gpus)["nvidia-caps/mig-minors"].splitlines()
    assert lines[:4] == ["config 1", "monitor 2", "gpu0/gi0/access 3", "gpu0/gi0/ci0/access 4"]
    assert "gpu1/gi1/ci0/access 148" in lines
    assert "Device Minor: \t 1\n" in proc(STATE.gpus)["nvidia/gpus/0000:1b:00.0/information"]
