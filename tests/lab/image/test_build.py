# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Building, with a stand-in for mmdebstrap on PATH; the real one runs when a lab is started."""

import os

import pytest

from lab.errors import LabError
from lab.image import build, recipe, repository


@pytest.fixture
def builder(tmp_path, monkeypatch):
    """Write the stand-in's script: its last argument is the tree."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.delenv("LAB_MIRROR", raising=False)
    monkeypatch.setattr(repository, "index", lambda directory, tree: 0)

    def write(body):
        script = tmp_path / "bin" / "mmdebstrap"
        script.write_text(f"#!/bin/sh\nfor tree; do :; done\necho run >> {tmp_path}/runs\n{body}\n")
        script.chmod(0o755)

    return write


def runs(tmp_path):
    return len((tmp_path / "runs").read_text().split())


WORKS = 'mkdir -p "$tree/var/lib/apt/lists"; echo "I: extracting archives"'


def test_an_image_is_built_once(tmp_path, builder):
    builder(WORKS)
    said = []
    first = build.ensure(tmp_path / "cache", said.append)
    assert build.ensure(tmp_path / "cache", said.append) == first == build.cached(tmp_path / "cache")
    assert first.tree.is_dir()
    assert runs(tmp_path) == 1
    assert any("extracting archives" in line for line in said)


def test_apts_lists_count_as_old(tmp_path, builder):
    """Or a role's `cache_valid_time` would skip the first update of a fresh host."""
    builder(WORKS)
    image = build.ensure(tmp_path / "cache", print)
    assert (image.tree / "var/lib/apt/lists").stat().st_mtime == 86400


def test_a_failed_build_leaves_no_image_and_the_next_one_starts_afresh(tmp_path, builder):
    builder('mkdir -p "$tree/half"; echo "E: broken"; exit 25')
    with pytest.raises(LabError, match=r"mmdebstrap failed .*E: broken"):
        build.ensure(tmp_path / "cache", print)
    assert build.cached(tmp_path / "cache") is None
    builder(WORKS)
    assert not (build.ensure(tmp_path / "cache", print).tree / "half").exists()


def test_remains_of_a_killed_build_are_removed(tmp_path, builder):
    stale = tmp_path / "cache/image/0123456789abcdef.partial/tree"
    stale.mkdir(parents=True)
    builder(WORKS)
    build.ensure(tmp_path / "cache", print)
    assert [path.name for path in (tmp_path / "cache/image").iterdir() if path.is_dir()] == [recipe.key()]


@pytest.mark.parametrize(
    ("log", "repair"),
    [
        (
            "Err:1 http://mirror trixie InRelease\n  Temporary failure resolving 'mirror'\n",
            "connect this machine, or set LAB_MIRROR",
        ),
        ("  Could not connect to mirror:80 (192.0.2.1), connection timed out\n", "connect this machine"),
        ("tar: ./usr/bin/x: Cannot write: No space left on device\n", "set LAB_CACHE"),
        ("E: something else\n", "something else"),
        ("", "no output"),
    ],
)
def test_a_failed_build_says_why(log, repair):
    assert repair in build.why(log)
