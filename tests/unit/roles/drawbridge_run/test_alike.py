# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lines of sinfo as Slurm 24.11 prints them: one for each partition with such nodes."""

from __future__ import annotations

import pytest

from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.run.alike import require_alike, unlike
from tests.unit.roles.drawbridge_run.job import Tools

ASK = "sinfo --noheader --all --nodes=gpu[01-02] --format=%G"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("gpu:3g.40gb:16\ngpu:3g.40gb:16\n", []),
        ("gpu:h100:8(S:0-1)\ngpu:h100:8(S:0,1)\n", []),
        ("gpu:h100:8(S:0-1)\ngpu:h100:4(S:0-1),gpu:3g.40gb:8(S:0-1)\n", ["gpu:h100:4,gpu:3g.40gb:8", "gpu:h100:8"]),
        ("gpu:h100:8\n(null)\n", ["gpu:h100:8", "none"]),
    ],
)
def test_nodes_with_equal_gpus_are_alike(text: str, found: list[str]) -> None:
    assert unlike(text) == found


def test_unlike_nodes_are_refused_before_their_pods_wait() -> None:
    tools = Tools({ASK: "gpu:h100:8\ngpu:3g.40gb:16\n"})
    with pytest.raises(
        Refused, match=r"different GPUs .gpu:3g.40gb:16 and gpu:h100:8.*choose one build with --constraint"
    ):
        require_alike("gpu[01-02]", tools)
    require_alike("gpu[01-02]", Tools({}))
    require_alike("gpu[01-02]", Tools({ASK: "gpu:h100:8\n"}))
