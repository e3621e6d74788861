# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The cache of built tools, with compilers that only pretend."""

import pytest

from lab.errors import LabError
from lab.tools import build
from lab.tools.toolchain import Toolchain


@pytest.fixture
def compiled(monkeypatch):
    """Replace the compiler and name each program that it was asked for."""
    asked = []

    def compile_(go, binary, work):
        asked.append(binary.name)
        (work / binary.name).write_text("")
        return work / binary.name

    monkeypatch.setattr(build, "_compile", compile_)
    monkeypatch.setattr(build, "FREE_BYTES_NEEDED", 0)
    monkeypatch.setattr(build.toolchain, "find", lambda: Toolchain("1.26.0", build.HERE / "go"))
    return asked


EVERY = [binary.name for binary in build.BINARIES]


def test_builds_once_and_leaves_nothing_else(tmp_path, compiled):
    said = []
    tools = build.ensure(tmp_path, said.append)
    assert build.ensure(tmp_path, said.append) == tools
    assert compiled == list(tools) == EVERY == [line.split()[4] for line in said[1:]]
    assert all(path.exists() for path in tools.values())
    kept = {path.name for path in tools.values()} | {".building.lock"}
    assert {path.name for path in (tmp_path / "tools").iterdir()} == kept


def test_only_what_is_missing_is_built(tmp_path, compiled):
    build.ensure(tmp_path, print)["deviceplugin"].unlink()
    compiled.clear()
    build.ensure(tmp_path, print)
    assert compiled == ["deviceplugin"]


def test_a_persons_own_programs_come_first(tmp_path, compiled, monkeypatch):
    (tmp_path / "own").mkdir()
    (tmp_path / "own/kube-apiserver").write_text("")
    monkeypatch.setenv("LAB_TOOLS", str(tmp_path / "own"))
    tools = build.ensure(tmp_path, print)
    assert tools["kube-apiserver"] == tmp_path / "own/kube-apiserver"
    assert tools["kubelet"].parent == tmp_path / "tools"


def test_a_failed_build_keeps_what_came_before_it(tmp_path, compiled, monkeypatch):
    works = build._compile

    def fail(go, binary, work):
        if binary.name == "kubelet":
            raise LabError("go build ended with 1")
        return works(go, binary, work)

    monkeypatch.setattr(build, "_compile", fail)
    with pytest.raises(LabError):
        build.ensure(tmp_path, print)
    monkeypatch.setattr(build, "_compile", works)
    build.ensure(tmp_path, print)
    assert compiled == EVERY


def test_a_compiler_that_fails_is_told_in_one_sentence(tmp_path):
    false = toolchain_that_fails(tmp_path)
    with pytest.raises(LabError, match="kubelet could not be built: go build ended with 3"):
        build._compile(false, build.BINARIES[3], tmp_path)


def test_a_download_that_breaks_off_is_tried_again(tmp_path):
    go = tmp_path / "go"
    go.write_text(f"#!/bin/sh\ntest -e {tmp_path}/tried && exit\ntouch {tmp_path}/tried; exit 1\n")
    go.chmod(0o755)
    assert build._compile(go, build.BINARIES[3], tmp_path) == tmp_path / "kubelet"


def toolchain_that_fails(directory):
    go = directory / "go"
    go.write_text("#!/bin/sh\nexit 3\n")
    go.chmod(0o755)
    return go


def test_what_a_killed_build_left_is_removed(tmp_path, compiled):
    left = tmp_path / "tools/.building-left"
    left.mkdir(parents=True)
    build.ensure(tmp_path, print)
    assert not left.exists()


def test_a_small_disk_is_refused_before_anything_is_built(tmp_path, compiled, monkeypatch):
    monkeypatch.setattr(build, "FREE_BYTES_NEEDED", 1 << 60)
    with pytest.raises(LabError, match="set LAB_CACHE to a larger disk"):
        build.ensure(tmp_path, print)
    assert compiled == []


def test_the_key_follows_sources_and_go():
    kubelet, ours = build.BINARIES[3], build.BINARIES[4]
    sources = {"go.sum": b"1", "deviceplugin/main.go": b"2"}
    key = build.cache_key(ours, "1.26.0", sources)
    assert key == build.cache_key(ours, "1.26.0", dict(reversed(sources.items())))
    assert key != build.cache_key(kubelet, "1.26.0", sources)
    assert key != build.cache_key(ours, "1.26.1", sources)
    assert key != build.cache_key(ours, "1.26.0", sources | {"deviceplugin/main.go": b"3"})
    assert key != build.cache_key(ours, "1.26.0", {"go.sum": b"1", "deviceplugin/mainxgo": b"2"})


def test_only_the_device_plugin_depends_on_our_own_code():
    sources = {binary.name: set(build.read_sources(binary)) for binary in build.BINARIES}
    assert sources["kubelet"] == {"go.mod", "go.sum"}
    assert sources["deviceplugin"] == {"go.mod", "go.sum", "deviceplugin/main.go", "deviceplugin/plugin.go"}
    assert sources["helm"] == {"helm/go.mod", "helm/go.sum"}


def test_versions_are_pinned_to_what_is_stamped():
    assert f"k8s.io/kubernetes {build.KUBERNETES} " in (build.HERE / "go.mod").read_text()
    containerd = f"github.com/containerd/containerd/v2 v{build.CONTAINERD} "
    assert containerd in (build.HERE / "containerd/go.mod").read_text()
