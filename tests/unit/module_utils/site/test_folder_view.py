# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.artefact import Artefact
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import Entry
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.folder_view import (
    Group,
    Placed,
    folder_files,
)

NODES = Group("nodes/h100", "gpu01", ["gpu01", "gpu02", "gpu10"])


def shown(*artefacts: Artefact) -> dict[str, str]:
    placed = [Placed("nodes/h100", "gate", f"Task {number}", it) for number, it in enumerate(artefacts, 1)]
    return folder_files([NODES], placed, {("gate", "shipped\n"): "roles/gate/files/x"})


def test_hosts_are_listed_once_for_all() -> None:
    index = "# Which hosts each folder stands for, and the one whose files it holds.\n"
    assert shown()["index.yml"] == f"{index}nodes/h100: {{hosts: 'gpu[01-02,10]', sample: gpu01}}\n"


def test_steps_come_in_the_order_of_the_run_with_the_files_they_write() -> None:
    files = {
        "/etc/a": Entry("text\n", "0600"),
        "/etc/d": Entry(None, "0755"),
        "/x": Entry("shipped\n"),
        "/e": Entry(""),
        "/p": Entry("#!/bin/x -I\nshipped\n", "0755"),
    }
    found = shown(Artefact(["run x"], files), Artefact(["last"]))
    assert found["nodes/h100/steps.txt"].splitlines() == [
        "# gpu[01-02,10], as on gpu01; files are in this folder by their paths.",
        "",
        "gate: Task 1",
        "    run x",
        "    write /etc/a 0600 root:root",
        "    make directory /etc/d 0755 root:root",
        "    write /x 0644 root:root from roles/gate/files/x",
        "    make empty /e 0644 root:root",
        "    write /p 0755 root:root from roles/gate/files/x",
        "",
        "gate: Task 2",
        "    last",
    ]
    assert found["nodes/h100/etc/a"] == "text\n"
    assert len(found) == 3


def test_manifests_that_differ_in_their_name_alone_are_one() -> None:
    accounts = [{"kind": "ServiceAccount", "metadata": {"name": name, "namespace": "x"}} for name in ("a2", "a1", "a3")]
    other = {"kind": "ServiceAccount", "metadata": {"name": "a4", "namespace": "y"}}
    found = shown(Artefact(objects=accounts), Artefact(objects=[other], values={"chart": {"text": "a\nb\n"}}))
    assert found["kubernetes/gate.yml"].splitlines() == [
        "---",
        "# the same for a[1-3]",
        "kind: ServiceAccount",
        "metadata: {name: a2, namespace: x}",
        "---",
        "kind: ServiceAccount",
        "metadata: {name: a4, namespace: y}",
    ]
    assert found["kubernetes/chart.values.yml"] == "text: |\n  a\n  b\n"
    steps = found["nodes/h100/steps.txt"]
    assert "    apply kubernetes/gate.yml\n" in steps and "    values kubernetes/chart.values.yml\n" in steps
