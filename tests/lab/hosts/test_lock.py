# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys

import pytest

from lab.errors import LabError
from lab.hosts import lock
from lab.hosts.paths import REPOSITORY

HOLD = """
import signal, sys
from pathlib import Path
from lab.hosts import lock
with lock.only_one(Path(sys.argv[1]), "up", print):
    print("held", flush=True)
    signal.pause()
"""


@pytest.fixture
def holder(tmp_path):
    argv = [sys.executable, "-c", HOLD, tmp_path / "lock"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_command_waits_and_then_names_the_first(tmp_path, holder):
    said = []
    with pytest.raises(LabError, match=rf"busy with lab up \(process {holder.pid}\)"):  # noqa: SIM117  # the raise is in the inner
        with lock.only_one(tmp_path / "lock", "down", said.append, patience=0.2):
            pass
    assert said == [f"waiting for lab up (process {holder.pid})"]
