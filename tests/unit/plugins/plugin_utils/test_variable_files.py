# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from ansible import template
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.variable_files import (
    duplicate_faults,
    file_faults,
    is_stray,
    positions,
    source,
    template_faults,
    variable_files,
)


@pytest.mark.parametrize(
    "path",
    [
        *("group_vars/all.yml", "group_vars/all/x.yml", "group_vars/.nodes.yml.swp", "group_vars/.all.yml.swp"),
        *("group_vars/nodes.yml~", "host_vars/gpu01.yml.bak", "host_vars/gpu01/key.pem", "group_vars/.git/config"),
    ],
)
def test_what_an_editor_leaves_is_not_looked_at(path: str) -> None:
    assert not is_stray(Path(path))
    assert all(map(is_stray, map(Path, ("group_vars/nodes.yml", "group_vars/nodes", "host_vars/gpu01/x.yaml"))))


def written(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def strays(inventories: list[Path], playbooks: list[Path]) -> list[str]:
    return [source.place for source in variable_files(inventories, playbooks).values() if source.stray]


def test_files_are_found_where_ansible_looks_for_variables(tmp_path: Path) -> None:
    """Through links as well, also to a folder with links to itself; beside playbooks and their parts."""
    written(tmp_path, "site/group_vars/all/x.yml", "site/hosts.yml", "other/group_vars/nodes.yml", "shared/y.yml")
    written(tmp_path, "playbooks/group_vars/all.yml", "playbooks/parts/host_vars/gpu01", "playbooks/other/group_vars/z")
    (tmp_path / "site/group_vars/nodes").symlink_to(tmp_path / "shared")
    (tmp_path / "shared/again").symlink_to(tmp_path / "shared")
    (tmp_path / "site/host_vars").symlink_to(tmp_path / "nowhere")
    assert strays([tmp_path / "site", tmp_path / "other"], [tmp_path / "playbooks"]) == [
        "group_vars/nodes/y.yml",
        "group_vars/nodes.yml",
        "playbooks/group_vars/all.yml",
        "playbooks/parts/host_vars/gpu01",
    ]


def test_playbooks_beside_their_inventory_share_its_variables(tmp_path: Path) -> None:
    written(tmp_path, "group_vars/all/x.yml", "group_vars/nodes.yml")
    assert strays([tmp_path], [tmp_path]) == ["group_vars/nodes.yml"]


@pytest.mark.parametrize(
    ("path", "kind", "owner"),
    [
        ("group_vars/nodes.yml", "group_vars", "nodes"),
        ("group_vars/nodes", "group_vars", "nodes"),
        ("group_vars/all/x.yml", "group_vars", "all"),
        ("host_vars/gpu01.example.json", "host_vars", "gpu01.example"),
        ("host_vars/gpu01.yml/nic.yml", "host_vars", "gpu01.yml"),
    ],
)
def test_a_file_has_an_owner(path: str, kind: str, owner: str) -> None:
    found = source(Path(path), path)
    assert (found.kind, found.owner) == (kind, owner)


ALL = """---
drawbridge_slurm:
  cluster: one
  partitions:
    - name: train
      nodes: gpu[01-02]
    - {name: hpc,
       nodes: gpu03}
other: !vault |
  $ANSIBLE_VAULT;1.1;AES256
drawbridge_kube: {infra: [infra1]}
"""


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("drawbridge_slurm", 2),
        ("drawbridge_slurm.cluster", 3),
        ("drawbridge_slurm.partitions[0].nodes", 6),
        ("drawbridge_slurm.partitions[1].nodes", 8),
        # a missing key: the nearest part
        ("drawbridge_slurm.controller", 2),
        ("drawbridge_slurm.partitions[1].gate", 7),
        ("drawbridge_slurm.partitions[7].gate", 4),
        ("drawbridge_slurm.cluster.name", 3),
        ("drawbridge_kube.infra[0]", 11),
        ("drawbridge_nodes.classes", 0),
    ],
)
def test_a_key_has_the_line_of_its_nearest_part(key: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / "all.yml"
    path.write_text(ALL)
    assert positions([path], [key]) == ({key: (path, line)} if line else {})


def test_the_last_file_and_the_last_of_equal_keys_win(tmp_path: Path) -> None:
    first, second, vault = (tmp_path / name for name in ("a.yml", "b.yml", "c.yml"))
    first.write_text("drawbridge_kube: 1\n")
    second.write_text("drawbridge_kube: 1\n\ndrawbridge_kube: 2\n")
    vault.write_text("$ANSIBLE_VAULT;1.1;AES256\n61")
    assert positions([first, second, vault], ["drawbridge_kube"]) == {"drawbridge_kube": (second, 3)}
    assert positions([vault], ["drawbridge_kube.infra"]) == {}


def test_a_file_that_is_no_yaml_has_no_lines(tmp_path: Path) -> None:
    broken = tmp_path / "all.yml"
    broken.write_text("drawbridge_kube: [\n")
    assert positions([broken], ["drawbridge_kube"]) == {}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a:\n\tb: 1", ", but line 2: "),
        ("- a", ", but it is no mapping of variables; "),
        ("$ANSIBLE_VAULT;1.1;AES256\n61", "; correct it, or add --ask-vault-pass or --vault-password-file FILE"),
        ("", ""),
        ("a: 1", ""),
    ],
)
def test_a_file_that_ansible_cant_read_is_named_in_full(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / ("long" * 30) / "own.yml"
    path.parent.mkdir()
    path.write_text(content)
    found = [str(fault) for fault in file_faults(DataLoader(), [path])]
    assert [f'"{path}"' in it and sentence in it for it in found] == ([True] if sentence else [])


def test_duplicate_keys_are_named_but_not_those_that_override_a_merge(tmp_path: Path) -> None:
    path = tmp_path / "own.yml"
    path.write_text("a: &a {x: 1}\nb: [{<<: *a, x: 2}, *a]\nc:\n  - d: 1\n    d: 2\n")
    [fault] = duplicate_faults([path])
    assert str(fault.value) == f"{path}:5"
    assert fault.reason.startswith("its mapping has d on line 4 already")


def test_each_template_that_ansible_cant_evaluate_has_its_key() -> None:
    templar = Templar(DataLoader(), {"there": 1})
    trusted = getattr(template, "trust_as_template", str)
    raw = {"a": [{"b": trusted("{{ there }}")}, {"b": trusted("{{ gone }}")}], "c": trusted("{{ open")}
    assert [fault.key for fault in template_faults(templar, "k", raw)] == ["k.a[1].b", "k.c"]
