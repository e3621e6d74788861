# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import stat
from pathlib import Path

import pytest
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.inventories import (
    first_line,
    missing_sources,
    nested_yaml,
    plain,
    yaml_sources,
)


def test_sources_are_named_as_a_person_did(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert plain(str(tmp_path / "inventories/mine")) == "inventories/mine"
    assert plain("/etc/ansible/hosts") == "/etc/ansible/hosts"


def test_a_list_of_hosts_is_no_path_and_a_path_may_be_missing(tmp_path: Path) -> None:
    assert [*missing_sources(["localhost,", str(tmp_path), str(tmp_path / "mien")])] == [str(tmp_path / "mien")]


def test_yaml_is_read_and_programs_and_other_endings_are_ansibles(tmp_path: Path) -> None:
    for name in ("hosts.yml", "more.yaml", "hosts.ini", ".hosts.yml.swp", "plain", "cloud.yml"):
        (tmp_path / name).write_text("all:\n")
    (tmp_path / "group_vars").mkdir()
    program = tmp_path / "cloud.yml"
    assert {path.name for path in yaml_sources([str(tmp_path)])} == {"hosts.yml", "more.yaml", "cloud.yml"}
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    assert [*yaml_sources([str(program), str(tmp_path / "hosts.ini")])] == []


def test_an_error_has_its_line(tmp_path: Path) -> None:
    broken = tmp_path / "hosts.yml"
    broken.write_text("all:\n  hosts: [\n")
    with pytest.raises(AnsibleError) as caught:
        DataLoader().load_from_file(str(broken), cache="none")
    assert first_line(caught.value).startswith("line 3: ")
    assert first_line(AnsibleError("it is not there.")) == "it is not there"


def test_files_in_folders_that_ansible_takes_for_inventories_are_found(tmp_path: Path) -> None:
    for name in ("groupvars/all/x.yml", "group_vars/all/y.yml", ".git/z.yml", "groupvars/readme.txt", "hosts.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [*nested_yaml([str(tmp_path), "gpu01,"])] == [tmp_path / "groupvars/all/x.yml"]


def test_variables_of_an_inventory_within_another_are_no_part_of_it(tmp_path: Path) -> None:
    """So describe.yml may write into the folder of the inventory."""
    for name in ("described/group_vars/all/nodes.yml", "described/hosts.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "described/again").symlink_to(tmp_path)
    assert [*nested_yaml([str(tmp_path)])] == [tmp_path / "described/hosts.yml"]
