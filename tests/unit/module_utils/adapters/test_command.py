# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.adapters.command import Command
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.converge import DeviceError

SCRIPT = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"


def test_answers_with_output_and_return_code() -> None:
    done = Command(10)(
        [sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"], (3,)
    )
    assert (done.rc, done.out, done.err) == (3, "out\n", "err\n")


def test_speaks_the_c_locale() -> None:
    done = Command(10)([sys.executable, "-c", "import os; print(os.environ['LC_ALL'])"])
    assert done.out == "C\n"


def test_an_unexpected_return_code_names_the_tool_and_its_last_words() -> None:
    with pytest.raises(DeviceError, match=r"^sh failed: no such port$") as caught:
        Command(10)(["/bin/sh", "-c", "echo first; echo no such port >&2; exit 2"])
    assert caught.value.details["rc"] == 2


def test_a_tool_that_is_not_there() -> None:
    with pytest.raises(DeviceError, match="no-such-tool can't be run: No such file"):
        Command(10)(["/no-such-tool"])


def test_a_hanging_tool_is_killed_with_its_children() -> None:
    start = time.monotonic()
    script = "sleep 60 & echo $!; wait"
    with pytest.raises(DeviceError, match=r"sh gave no answer within 0.3 s and was killed") as caught:
        Command(0.3)(["/bin/sh", "-c", script])
    assert time.monotonic() - start < 10
    child = int(caught.value.details["stdout"])
    deadline = time.monotonic() + 5
    while alive(child):
        assert time.monotonic() < deadline, "the child outlived its parent"


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_hands_over_standard_input() -> None:
    assert Command(10, stdin="secret")(["/bin/cat"]).out == "secret"
