# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""playbooks/plan.yml from end to end; what it writes for the example sites is tests/conformance/test_golden.py's."""

from __future__ import annotations

from pathlib import Path

from tests.collection.installed import NAME, Site, run
from tests.collection.recorder import Recorder
from tests.conformance.tree import ROOT
from tests.golden.plans import HOME, copied, files, planned, write

MANY, A_LEAF = 1_600, 16


def test_a_second_plan_is_exact_and_removes_what_no_longer_belongs(tmp_path: Path) -> None:
    """And touches nothing else, and nothing at all in check mode."""
    inventory, folder = copied(tmp_path, site="example-pilot"), tmp_path / "plan"
    (folder / "nodes/h100").mkdir(parents=True)
    (folder / "nodes/h100/mine").write_text("mine\n")
    before = planned(inventory, folder)
    assert "changed=0" in write(inventory, folder).stdout
    (inventory / "host_vars").mkdir()
    (inventory / "host_vars/gpu02.yml").write_text("kubelet_numa_settings: {maxPods: 64}\n")
    seen = write(inventory, folder, "--check", "--diff").stdout
    assert files(folder) == before
    after = planned(inventory, folder)
    own = {path.removeprefix("nodes/h100-gpu02/") for path in after if path.startswith("nodes/h100-gpu02/")}
    assert own == {path.removeprefix("nodes/h100/") for path in before if path.startswith("nodes/h100/")} - {"mine"}
    assert "maxPods: 64" in after["nodes/h100-gpu02/etc/kubernetes/kubelet.conf.d/50-drawbridge.conf"]
    assert "+    maxPods: 64" in seen
    assert "nodes/h100: {hosts: gpu01, sample: gpu01}" in after["index.yml"]
    (inventory / "host_vars/gpu02.yml").unlink()
    assert planned(inventory, folder) == before
    assert not (folder / "nodes/h100-gpu02").exists()


def test_files_of_others_are_no_place_for_a_plan(tmp_path: Path) -> None:
    (tmp_path / "index.yml").write_text("mine\n")
    done = write(ROOT / "inventories/lab", tmp_path)
    assert (
        done.returncode != 0 and "was not written by an earlier run; name another folder" in done.stdout + done.stderr
    )
    assert files(tmp_path) == {"index.yml": "mine\n"}


def test_a_plan_does_not_grow_with_the_nodes(tmp_path: Path) -> None:
    last = MANY // A_LEAF
    ranges = [
        f'    - {{names: "gpu[{leaf * A_LEAF - 15:05}-{leaf * A_LEAF:05}]", node_class: h100, leaves: leaf{leaf}}}'
        for leaf in range(1, last + 1)
    ]
    declared = (ROOT / "inventories/example-pilot/group_vars/all/nodes.yml").read_text()
    inventory = copied(
        tmp_path,
        ("hosts.yml", "gpu[01:02]", f"gpu[00001:{MANY:05}]"),
        ("hosts.yml", "leaf1", f"leaf[1:{last}]"),
        ("group_vars/all/fabric.yml", "leaf1", f'"leaf[1-{last}]"'),
        ("group_vars/all/fabric.yml", "Ethernet1/1-16/1", "Ethernet1/1-128/1"),
        ("group_vars/all/nodes.yml", declared.partition("  ranges:\n")[2], "\n".join(ranges)),
        ("group_vars/all/slurm.yml", "gpu[01-02]", f"gpu[00001-{MANY:05}]"),
        site="example-pilot",
    )
    small = planned(ROOT / "inventories/example-pilot", tmp_path / "small")
    large = planned(inventory, tmp_path / "large")
    assert large.keys() == small.keys()
    tree = "slurm_controller/etc/slurm/topology.conf"
    assert large[tree].count("SwitchName=") == last + 1  # a leaf is a line, with the one above them all
    both = small.keys() - {tree}
    assert sum(len(large[path]) for path in both) < 1.1 * sum(len(small[path]) for path in both)
    assert f"nodes/h100: {{hosts: 'gpu[00001-{MANY:05}]', sample: gpu00001}}" in large["index.yml"]


def test_an_installed_collection_writes_the_same_plan_and_contacts_no_host(
    site: Site, recorder: Recorder, tmp_path: Path
) -> None:
    inventory = site.installed / "inventories/example-rails"
    words = ["-i", str(inventory), f"{NAME}.plan", "-e", f"plan_into={tmp_path / 'plan'}"]
    done = run(["ansible-playbook", *words], site.cwd, site.environment | recorder.environment)
    assert done.code == 0, done.text
    assert files(tmp_path / "plan") == files(HOME / "example-rails")
    assert recorder.asked == []
