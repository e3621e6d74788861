# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language.gres import (
    Share,
    nodes_of,
    share,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language.lines import Line, lines


def line(text: str) -> Line:
    (only,) = lines(text)
    return only


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Name=gpu Type=h100 File=/dev/nvidia[0-1]", Share("gpu", "h100", ("/dev/nvidia0", "/dev/nvidia1"), 2)),
        ("NodeName=a Name=gpu File=/dev/nvidia3 Cores=0-7", Share("gpu", "", ("/dev/nvidia3",), 1, "0-7")),
        ("Name=nvme Count=2K", Share("nvme", "", (), 2048)),
        ("Name=gpu MultipleFiles=/dev/a,/dev/b", Share("gpu", "", ("/dev/a", "/dev/b"), 1, "", True)),
        ("NodeName=a AutoDetect=nvml", None),
    ],
)
def test_what_a_line_gives(text: str, expected: Share | None) -> None:
    assert share(line(text)) == expected


def test_a_line_without_nodes_is_of_all() -> None:
    found = lines("Name=gpu File=/dev/nvidia0\nNodeName=a[1-2] Name=nvme Count=1\n")
    assert nodes_of(found[0]) is None and nodes_of(found[1]) == ["a1", "a2"]
