# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.artefact import Artefact
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import Entry
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.folder_view import (
    Group,
    Placed,
    folder_files,
)


def test_a_folder_lists_its_hosts_and_its_steps_and_holds_files_that_are_not_shipped() -> None:
    """The golden plans have whole folders."""
    files = {"/etc/a": Entry("text\n", "0600"), "/x": Entry("shipped\n"), "/e": Entry("")}
    placed = [Placed("nodes/h100", "gate", "First", Artefact(["run x"], files))]
    group = Group("nodes/h100", "gpu01", ["gpu01", "gpu02", "gpu10"])
    found = folder_files([group], placed, {("gate", "shipped\n"): "roles/gate/files/x"})
    assert found["index.yml"].splitlines()[1:] == ["nodes/h100: {hosts: 'gpu[01-02,10]', sample: gpu01}"]
    assert found["nodes/h100/steps.txt"].splitlines()[2:] == [
        "gate: First",
        "    run x",
        "    write /etc/a 0600 root:root",
        "    write /x 0644 root:root from roles/gate/files/x",
        "    make empty /e 0644 root:root",
    ]
    assert found["nodes/h100/etc/a"] == "text\n"
    assert len(found) == 3


def test_manifests_for_an_administrator_are_whole_and_those_of_a_run_short() -> None:
    """kubectl gets the first ones: an object that stands for others would be the only one there."""
    spaces = [{"kind": "Namespace", "metadata": {"name": name}} for name in ("a", "b")]
    placed = [Placed("ctl", "gate", "First", Artefact(objects=spaces, handed={"rights.yml": spaces}))]
    found = folder_files([Group("ctl", "ctl", ["ctl"])], placed, {})
    assert [*yaml.safe_load_all(found["kubernetes/rights.yml"])] == spaces
    assert found["kubernetes/gate.yml"].count("kind:") == 1 and "# the same for a,b" in found["kubernetes/gate.yml"]
    assert "compare with kubernetes/rights.yml, which an administrator applies" in found["ctl/steps.txt"]
