# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.io import (
    Mm,
    reason,
)

CLOSING = "mmx: Command failed.  Examine previous error messages to determine cause.\n"
LOCKED = [
    "mmx: Timed out waiting for lock. Try again later.\n",
    "mmx: 6027-1229 Timed out waiting for lock. Try again later.\n",
    "mmx: Local update lock is busy.\n",
    "mmx: The sgmgr lock for file system fs1 is busy.\n",
]


class Tool:
    """Fails with each text in turn, then succeeds."""

    def __init__(self, *failures: str) -> None:
        self.failures, self.ran = list(failures), []

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        self.ran.append(list(argv))
        if self.failures:
            raise DeviceError("mmx failed", rc=1, stdout="", stderr=self.failures.pop(0) + CLOSING)
        return Completed(0, "", "")


@pytest.mark.parametrize("text", LOCKED)
def test_a_busy_lock_is_tried_again_with_growing_pauses(text: str) -> None:
    tool, pauses = Tool(text, text, text), []
    Mm(tool, "/mm", 600, sleep=pauses.append).change("mmx", "-N", "a")
    assert tool.ran == [["/mm/mmx", "-N", "a"]] * 4
    assert len(pauses) == 3
    for index, longest in enumerate((1, 2, 4)):
        assert longest / 2 <= pauses[index] <= longest


def test_other_failures_are_not_tried_again() -> None:
    tool = Tool("mmx: Incorrect node gpu09 specified for command.\n")
    with pytest.raises(DeviceError, match=r"^mmx failed: Incorrect node gpu09 specified for command\.$"):
        Mm(tool, "/mm", 600).change("mmx")
    assert len(tool.ran) == 1


def test_an_answer_that_is_none_is_an_error() -> None:
    with pytest.raises(DeviceError, match="mmx -Y printed no header"):
        Mm(Tool(), "/mm").read("mmx")


def test_the_reason_is_all_that_was_said_but_the_closing_line() -> None:
    assert reason("mmx", f"mmx: Nodes must be available:\n\tnsd1\n{CLOSING}") == "Nodes must be available: nsd1"
    assert reason("mmx", CLOSING) == "no output"
