# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.runtime.text import (
    GUARD,
    Effective,
    doubts,
    drop_in,
    effective,
    stays_in_images,
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


@pytest.mark.parametrize(
    ("version", "fixed"),
    [
        ("1.3.5", False),
        ("1.3.6", True),
        ("1.4.2", False),
        ("1.4.3", True),
        ("1.5.0-rc.3", False),
        ("1.5.1", True),
        ("1.6.0", True),
        ("2.0.0", True),
        ("1.1.15+ds1", False),
        ("", False),
    ],
)
def test_which_runc_stays_in_images(version: str, fixed: bool) -> None:
    assert stays_in_images(f"runc version {version}\nspec: 1.2.0\n") is fixed


def test_a_node_that_is_fine_without_the_guard_raises_no_doubt() -> None:
    assert doubts([], "runc version 1.5.1\n") == []
    assert doubts(["/gpfs/fs1", "/home"], "") == [
        "nothing shows that /gpfs/fs1, /home squashes root",
        "the runtime may lead root out of them",
    ]
