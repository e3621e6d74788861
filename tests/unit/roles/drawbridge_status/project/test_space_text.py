# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What stat prints."""

from __future__ import annotations

from roles.drawbridge_status.files.project import space_text
from roles.drawbridge_status.files.project.model import Space


def test_both_outputs_make_a_space() -> None:
    found = space_text.spaces("4096|1000|400|500|100|/a\n512|8|8|0|0|/b c|d\nx|1|1|1|1|/e\n", "root|vision|2770|/a\n")
    assert found == {
        "/a": Space(4096 * 1000, 4096 * 600, 500, 400, "root", "vision", "2770"),
        "/b c|d": Space(4096, 0, 0, 0),
    }


def test_the_mode_has_four_digits() -> None:
    assert space_text.spaces("1|1|1|1|1|/a\n", "root|root|500|/a\n")["/a"].mode == "0500"


def test_reasons() -> None:
    errors = "stat: cannot read file system information for '/a b': No such file or directory\nstat: x\n"
    assert space_text.reasons(errors) == {"/a b": "No such file or directory"}
