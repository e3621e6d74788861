# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys

from tests.conformance.tree import ROOT

SAYS = "from roles.slurm_gate.files.gate.log import Log; log = Log(); log.event('refused', job=7); log.event('end')"


def test_a_line_is_an_object_and_reaches_slurms_log_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", SAYS], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr == '{"event": "refused", "job": 7}\n{"event": "end"}\n'


def test_a_slurmd_that_has_died_meanwhile_ends_no_epilog() -> None:
    """Its pipe has no reader: the orphan goes on with its work, and its exit code is its own."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-c", SAYS], cwd=ROOT, stderr=writer, check=False)
    os.close(writer)
    assert done.returncode == 0
