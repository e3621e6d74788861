# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.runtime.text import (
    GUARD,
    Effective,
    drop_in,
    effective,
)

from tests.conformance.tree import ROOT

DUMP = (ROOT / "tests/transcripts/containerd/dump_2.3.5_lab.txt").read_text()


def test_a_dump_says_what_pods_without_a_class_run() -> None:
    assert effective(DUMP) == Effective("runc", "/usr/lib/lab/lab-runc")
    assert effective(DUMP.replace("/usr/lib/lab/lab-runc", "")) == Effective("runc", "")
    assert effective(DUMP.replace("'", '"')) == Effective("runc", "/usr/lib/lab/lab-runc")


def test_programs_of_other_runtimes_are_not_its_own() -> None:
    other = "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia.options]\n  BinaryName = '/n'\n"
    assert effective(DUMP + other).binary == "/usr/lib/lab/lab-runc"
    assert effective(other + "[plugins]\n default_runtime_name = 'nvidia'\n") == Effective("nvidia", "")


def test_a_dump_without_a_default_says_nothing() -> None:
    with pytest.raises(ValueError, match="no default_runtime_name"):
        effective("version = 3\n")


def test_the_file_names_the_guard() -> None:
    assert f'BinaryName = "{GUARD}"' in drop_in(GUARD) and drop_in(GUARD).splitlines()[1] == "version = 3"
