# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import Entry
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.kube_artefacts_view import (
    helm_release,
    k8s,
    kube_member,
    kube_packages,
    kube_runtime,
    kubelet_config,
)


def test_packages_come_with_their_version_and_source() -> None:
    found = kube_packages({"kubelet": "1.36.3"}, "Types: deb\n", "/sources")
    assert list(found.lines) == ["kubelet 1.36.3 held"]
    assert found.files == {"/sources": Entry("Types: deb\n")}
    assert kube_packages({}, "", "/sources").files == {}


def test_the_runtime_has_its_registries() -> None:
    files = kube_runtime(True, "pause:1", [{"path": "/certs/hosts.toml", "content": "x\n"}]).files
    assert files["/certs/hosts.toml"] == Entry("x\n")
    assert len(files) == 3


def test_the_kubelet_has_its_drop_in() -> None:
    entry = kubelet_config("/drop-in", {"maxPods": 64}).files["/drop-in"]
    assert "maxPods: 64\n" in (entry.content or "")


def test_a_member_shows_no_certificate_and_no_token() -> None:
    found = kube_member(True, "gpu01", "10.0.0.1", "/ca.crt", {}, ["--v=2"], "/usr/bin/kubelet")
    assert "kubeconfig" in (found.files["/ca.crt"].content or "")
    assert "secret" in found.lines[0]
    assert any("--v=2" in (entry.content or "") for entry in found.files.values())


def test_a_member_that_the_site_joins_gets_nothing() -> None:
    assert not kube_member(False, "gpu01", "10.0.0.1", "/ca.crt", {}, [], "/usr/bin/kubelet").files


def test_releases_have_values_and_objects_are_manifests() -> None:
    found = helm_release("r", "ns", "chart", "v1", "https://charts", {"a": 1})
    assert (list(found.lines), found.values) == (["helm release ns/r: chart v1 from https://charts"], {"r": {"a": 1}})
    assert k8s({"kind": "A"}).objects == k8s([{"kind": "A"}]).objects == [{"kind": "A"}]
