# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The cache of built tools, with compilers that only pretend."""

import subprocess

import pytest

from lab.tools import build
from lab.tools.toolchain import Toolchain


@pytest.fixture
def compiled(monkeypatch):
    """Replace the compiler and name each program that it was asked for."""
    asked = []

    def compile_(go, binary, work):
        asked.append(binary.name)
        (work / "result/bin").mkdir(parents=True, exist_ok=True)
        (work / "result/bin" / binary.name).write_text("")

    monkeypatch.setattr(build, "_compile", compile_)
    monkeypatch.setattr(build.toolchain, "find", lambda: Toolchain("1.26.0", build.HERE / "go"))
    return asked


def test_builds_once_and_leaves_nothing_else(tmp_path, compiled):
    said = []
    bin_ = build.ensure(tmp_path, said.append)
    assert build.ensure(tmp_path, said.append) == bin_
    assert compiled == [binary.name for binary in build.BINARIES] == [line.split()[2] for line in said[2::2]]
    assert {path.name for path in bin_.iterdir()} == set(compiled)
    assert {path.name for path in (tmp_path / "tools").iterdir()} == {bin_.parent.name, ".lock"}


def test_a_failed_build_is_not_taken_for_a_result(tmp_path, compiled, monkeypatch):
    def fail(go, binary, work):
        raise subprocess.CalledProcessError(1, "go build")

    works = build._compile
    monkeypatch.setattr(build, "_compile", fail)
    with pytest.raises(subprocess.CalledProcessError):
        build.ensure(tmp_path, print)
    monkeypatch.setattr(build, "_compile", works)
    assert (build.ensure(tmp_path, print) / "kubelet").exists()


def test_what_a_killed_build_left_is_removed(tmp_path, compiled):
    left = tmp_path / "tools/.building-left"
    left.mkdir(parents=True)
    build.ensure(tmp_path, print)
    assert not left.exists()


def test_a_small_disk_is_refused_before_anything_is_built(tmp_path, compiled, monkeypatch):
    monkeypatch.setattr(build, "FREE_BYTES_NEEDED", 1 << 60)
    with pytest.raises(OSError, match="set LAB_CACHE to a larger disk"):
        build.ensure(tmp_path, print)
    assert compiled == []


def test_the_key_follows_sources_and_go():
    sources = {"go.sum": b"1", "deviceplugin/main.go": b"2"}
    key = build.cache_key("1.26.0", sources)
    assert key == build.cache_key("1.26.0", dict(reversed(sources.items())))
    assert key != build.cache_key("1.26.1", sources)
    assert key != build.cache_key("1.26.0", sources | {"deviceplugin/main.go": b"3"})
    assert key != build.cache_key("1.26.0", {"go.sum": b"1", "deviceplugin/mainxgo": b"2"})


def test_the_key_covers_modules_and_our_own_code():
    assert {"go.mod", "go.sum", "helm/go.mod", "helm/go.sum", "deviceplugin/main.go"} <= set(build.read_sources())


def test_kubernetes_is_pinned_to_the_version_that_it_is_stamped_with():
    assert f"k8s.io/kubernetes {build.KUBERNETES} " in (build.HERE / "go.mod").read_text()
