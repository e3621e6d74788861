# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.helm_io import (
    Helm,
    Source,
    pinned,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.plan import Record

A_CHART, OTHER = (hashlib.sha256(content).hexdigest() for content in (b"a chart", b"another"))
# helm 3.22, captured
ABOUT = "apiVersion: v2\nappVersion: v26.7.0\ndescription: x\nname: gpu-operator\nversion: v26.7.0\n"
LISTED = (
    '[{"name":"gpu-operator","namespace":"gpu-operator","revision":"1","updated":"2026-11-21 17:20:11","status":'
    '"deployed","chart":"gpu-operator-v26.7.0","app_version":"v26.7.0"}]'
)


class Shell:
    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), []

    def __call__(self, timeout_s: float, stdin: str | None) -> Any:
        def run(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
            self.asked.append((list(argv), stdin, timeout_s))
            return Completed(0, self.answers.pop(0), "")

        return run


def helm(shell: Shell, repo: str = "", chart: str = "/srv/charts/gpu-operator.tgz") -> Helm:
    source = Source(chart, "gpu-operator", "v26.7.0", repo)
    return Helm("helm", "/root/kubeconfig", "gpu-operator", "gpus", source, shell)


@pytest.mark.parametrize("repo", ["", "https://repo"])
def test_a_chart_of_the_pinned_digest_is_used_as_a_file(repo: str, tmp_path: Path) -> None:
    file, shell = tmp_path / "gpu-operator-v26.7.0.tgz", Shell("")
    file.write_bytes(b"a chart")
    source = Source("gpu-operator" if repo else str(file), "gpu-operator", "v26.7.0", repo)
    found = pinned(source, f"sha256:{A_CHART}", "helm", tmp_path, shell)
    assert found.argv() == [str(file), "--version", "v26.7.0"]
    pulled = ["helm", "pull", "gpu-operator", "--version", "v26.7.0", "--repo", "https://repo", "--destination"]
    assert [argv for argv, _stdin, _timeout_s in shell.asked] == ([[*pulled, str(tmp_path)]] if repo else [])


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("other.tgz", f"has the digest sha256:{OTHER}, but {A_CHART} is pinned"),
        (".", "is a folder, which has no digest"),
        ("absent.tgz", "can't be read: "),
    ],
)
def test_any_other_file_is_refused(place: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "other.tgz").write_bytes(b"another")
    with pytest.raises(DeviceError, match=re.escape(said)):
        pinned(Source(str(tmp_path / place), "gpu-operator", "v26.7.0"), A_CHART, "helm", tmp_path)


def test_the_right_chart() -> None:
    shell = Shell(ABOUT)
    helm(shell).verify()
    assert shell.asked[0][0] == ["helm", "show", "chart", "/srv/charts/gpu-operator.tgz", "--version", "v26.7.0"]


@pytest.mark.parametrize(
    ("about", "found"),
    [
        (ABOUT.replace("v26.7.0", "v26.3.3"), "gpu-operator v26.3.3"),
        (ABOUT.replace("name: gpu-operator", "name: gpu-operator-charts"), "gpu-operator-charts v26.7.0"),
    ],
)
def test_another_chart_at_the_path_is_refused(about: str, found: str) -> None:
    with pytest.raises(DeviceError) as caught:
        helm(Shell(about)).verify()
    sentence = str(caught.value)
    assert f"the chart at '/srv/charts/gpu-operator.tgz' is {found}, but gpu-operator v26.7.0 is pinned" in sentence
    assert "helm pull gpu-operator --version v26.7.0" in sentence


def test_it_is_rendered_for_this_cluster() -> None:
    shell = Shell("kind: x\n")
    assert (
        helm(shell, "https://repo", "gpu-operator").rendered({"a": 1}, "v1.36.3", ["v1", "v1/Pod"], True) == "kind: x\n"
    )
    argv, stdin, _ = shell.asked[0]
    line = " ".join(argv)
    assert line.startswith("helm template gpu-operator gpu-operator --version v26.7.0 --repo https://repo --kubeconfig")
    assert "--kube-version v1.36.3 --is-upgrade --api-versions v1,v1/Pod" in line and "--include-crds" in line
    assert json.loads(stdin or "") == {"a": 1}


def test_large_clusters_know_more_than_an_argument_holds() -> None:
    shell = Shell("")
    kinds = [f"group{number}.example.org/v1alpha1/SomeKind{number}" for number in range(4000)]
    helm(shell).rendered({}, "v1.36.3", kinds, False)
    argv = shell.asked[0][0]
    given = [argv[index + 1] for index, word in enumerate(argv) if word == "--api-versions"]
    assert ",".join(given).split(",") == kinds
    assert max(map(len, argv)) < 128 << 10
    assert "--is-upgrade" not in argv, "there is no release yet"


def test_what_helm_remembers_and_takes_up_again() -> None:
    shell = Shell(LISTED, '{"driver":{"enabled":false}}\n')
    assert helm(shell).record() == Record("gpu-operator-v26.7.0", {"driver": {"enabled": False}}, "deployed")
    assert shell.asked[0][0][-4:] == ["--filter", "^gpu-operator$", "--output", "json"]
    assert helm(Shell("[]\n")).record() is None
    for status in ("deployed", "failed", "superseded", "uninstalled"):
        listed = LISTED.replace('"deployed"', f'"{status}"')
        assert helm(Shell(listed, "null\n")).record() == Record("gpu-operator-v26.7.0", {}, status)


@pytest.mark.parametrize(
    ("status", "verb"),
    [
        ("pending-install", "uninstall"),
        ("pending-upgrade", "rollback"),
        ("pending-rollback", "rollback"),
        ("uninstalling", "uninstall"),
    ],
)
def test_what_helm_has_not_finished_is_refused_with_the_way_out(status: str, verb: str) -> None:
    shell = Shell(LISTED.replace('"deployed"', f'"{status}"'), "{}")
    with pytest.raises(DeviceError, match=f"has release gpu-operator as {status}: ") as caught:
        helm(shell).record()
    as_installer = "--kube-as-user drawbridge --kube-as-group drawbridge:platform --kube-as-group drawbridge:installer"
    command = f"helm {verb} gpu-operator --kubeconfig /root/kubeconfig --namespace gpus {as_installer}"
    assert str(caught.value).endswith(f": {command}")


def test_values_are_never_in_the_command() -> None:
    shell = Shell("")
    helm(shell).upgrade({"token": "hunter2"})
    argv, stdin, timeout_s = shell.asked[0]
    assert "hunter2" not in " ".join(argv) and "hunter2" in (stdin or "")
    assert argv[1:3] == ["upgrade", "--install"] and "--reset-values" in argv and "--skip-crds" in argv
    assert timeout_s > 300


def test_missing_helm_is_reported() -> None:
    with pytest.raises(DeviceError, match="no-such-helm can't be run"):
        Helm("no-such-helm", "k", "r", "n", Source("c", "c", "1")).record()
