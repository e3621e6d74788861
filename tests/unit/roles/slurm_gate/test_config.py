# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

from roles.slurm_gate.files.gate.config import Config
from tests.unit.roles.slurm_gate.cluster import CONFIG


def test_the_file_may_hold_more_than_this_program_knows(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**CONFIG, "newer": True}))
    assert Config.read(file) == Config(**CONFIG)
