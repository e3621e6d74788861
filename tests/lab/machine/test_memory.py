# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The preloaded library that tells slurmd how much memory and how many CPUs there are."""

import os
import subprocess

from lab.machine import build


def ask(library, question, **environment):
    preloaded = {"PATH": os.environ["PATH"], "LD_PRELOAD": str(library), **environment}
    return int(subprocess.run(["getconf", question], env=preloaded, check=True, capture_output=True).stdout)


def test_pretended_and_real_answers(tmp_path):
    library = build.ensure(tmp_path, None) / "memory.so"
    page = os.sysconf("SC_PAGESIZE")
    assert ask(library, "_PHYS_PAGES", LAB_MEMORY_KB="2113929216") == 2113929216 * 1024 // page
    assert ask(library, "_NPROCESSORS_ONLN", LAB_CPUS="128") == 128
    assert ask(library, "_PHYS_PAGES") == os.sysconf("SC_PHYS_PAGES")
    assert ask(library, "PAGESIZE", LAB_CPUS="128") == page
