# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from roles.slurm_gate.files.gate.config import Refused
from roles.slurm_gate.files.run.options import parse, parser


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "no image: name one"),
        ("--image img", "no command: end the line with --"),
        ("--image img python train.py", "write -- in front of the command: -- python train.py"),
        ("--imag img -- true", "--imag is no option"),
        ("--image img --name Big -- true", "small letters"),
        ("--image img --name ends- -- true", "small letters"),
        ("--image img --name a-name-of-21-letters -- true", ""),
        ("--image img --name a-name-of-22-letters-x -- true", "up to 20"),
        ("--image img --grace soon -- true", "argument --grace: invalid int value: 'soon'; drawbridge-run --help"),
        ("--image -- true", "argument --image: expected one argument"),
        ("--image img --backend pods -- true", "invalid choice: 'pods'"),
        ("--image img --grace 0 -- true", "between 1 and 120"),
        ("--image img --grace 121 -- true", "between 1 and 120"),
        ("--image img --env 1A=b -- true", "begins with no digit"),
        ("--image img --secret-env A -- true", "NAME=SECRET/KEY"),
        ("--image img --secret-env A=b -- true", "NAME=SECRET/KEY"),
        ("--image img --secret-env A=b/c -- true", ""),
    ],
)
def test_a_wrong_line_is_refused_with_what_to_write(line: str, says: str) -> None:
    if not says:
        assert parse(line.split()).command == ("true",)
        return
    with pytest.raises(Refused, match=says):
        parse(line.split())


def test_what_stands_behind_the_dashes_is_the_commands() -> None:
    found = parse(["--image", "img", "--", "sh", "-c", "true -- --image", "--", "--keep"])
    assert found.command == ("sh", "-c", "true -- --image", "--", "--keep")
    assert not found.keep


def test_help_names_every_exit_code() -> None:
    text = parser().format_help()
    assert all(code in text for code in ("124", "125", "126, 127", "130, 143"))
