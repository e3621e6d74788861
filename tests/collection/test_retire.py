# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whom retire.yml picks; test_options.py has what it refuses."""

from __future__ import annotations

from pathlib import Path

from tests.collection.recorder import Recorder

from .test_onboard import picked
from .test_refusals import play


def test_only_the_controller_is_known_before_the_run(recorder: Recorder, tmp_path: Path) -> None:
    """Which nodes are empty, and which left, is known only in a run."""
    plays = picked(play(recorder, tmp_path, "-e", "retire_nodes=gpu03", "--list-hosts", playbook="retire"))
    assert plays["Drain the nodes and wait for their jobs"] == {"ctl"}
    assert plays["Take the empty nodes down"] == plays["Delete the nodes from the Storage Scale cluster"] == set()
