# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What retire.yml refuses before it contacts a host, and whom it picks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.collection.recorder import Recorder

from .test_onboard import picked
from .test_refusals import play, refuse


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), 'retire_nodes is "", but it names no host; name at least one host'),
        (("-e", "retire_nodes=gpu99"), "but drawbridge_nodes.ranges has no node gpu99"),
        (("-e", "retire_nodes=ctl"), "but drawbridge_nodes.ranges has no node ctl"),
        (("-e", "retire_nodes=gpu01,gpu01"), "gpu01"),
    ],
    ids=["nobody", "unknown", "controller", "doubled"],
)
def test_a_wrong_choice_is_refused(
    recorder: Recorder, tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    assert sentence in refuse(recorder, tmp_path, *arguments, playbook="retire")


def test_only_the_controller_is_known_before_the_run(recorder: Recorder, tmp_path: Path) -> None:
    """Which nodes are empty, and which left, is known only in a run."""
    plays = picked(play(recorder, tmp_path, "-e", "retire_nodes=gpu03", "--list-hosts", playbook="retire"))
    assert plays["Drain the nodes and wait for their jobs"] == {"ctl"}
    assert plays["Take the empty nodes down"] == plays["Delete the nodes from the Storage Scale cluster"] == set()
