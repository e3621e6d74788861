# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
import time

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Command
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError

from tests.unit.processes import LIMITS_S, gone


def test_answers_with_output_and_return_code_in_the_c_locale() -> None:
    script = "import os, sys; print(os.environ['LC_ALL']); print('err', file=sys.stderr); sys.exit(3)"
    done = Command(60)([sys.executable, "-c", script], (3,))
    assert (done.rc, done.out, done.err) == (3, "C\n", "err\n")


def test_an_unexpected_return_code_names_the_tool_and_its_last_words() -> None:
    with pytest.raises(DeviceError, match=r"^sh failed: no such port$") as caught:
        Command(60)(["/bin/sh", "-c", "echo first; echo no such port >&2; exit 2"])
    assert caught.value.details["rc"] == 2


def test_a_tool_that_is_not_there() -> None:
    with pytest.raises(DeviceError, match="no-such-tool can't be run: No such file"):
        Command(60)(["/no-such-tool"])


def test_a_hanging_tool_is_killed_with_its_children() -> None:
    start, child = time.monotonic(), ""
    for limit_s in LIMITS_S:
        with pytest.raises(DeviceError, match=rf"sh gave no answer within {limit_s:g} s and was killed") as caught:
            Command(limit_s)(["/bin/sh", "-c", "sleep 3600 & echo $!; wait"])
        if child := caught.value.details["stdout"]:
            break
    assert time.monotonic() - start < 600
    gone(int(child))


def test_hands_over_standard_input() -> None:
    assert Command(60, stdin="secret")(["/bin/cat"]).out == "secret"
