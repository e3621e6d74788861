# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
import shutil

import pytest

from lab.image import recipe


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(recipe.HERE, tmp_path / "image", ignore=shutil.ignore_patterns("__pycache__"))


def test_the_key_is_of_the_content_alone(copy):
    assert recipe.key(copy) == recipe.key()


@pytest.mark.parametrize(
    "file", ["packages.yml", "customize", "files/etc/apt/sources.list", "recipe.py", "repository.py"]
)
def test_whatever_shapes_the_image_changes_the_key(copy, file):
    before = recipe.key(copy)
    (copy / file).write_text((copy / file).read_text() + "\n# changed\n")
    assert recipe.key(copy) != before


def test_a_renamed_file_changes_the_key(copy):
    before = recipe.key(copy)
    (copy / "files/etc/sudoers.d/ansible").rename(copy / "files/etc/sudoers.d/other")
    assert recipe.key(copy) != before


def test_what_roles_install_for_real_is_not_in_the_image():
    packages = recipe.packages()
    assert not {"slurmd", "slurmctld", "slurmdbd", "munge", "mariadb-server"} & set(packages["tree"])
    assert {"slurmd", "slurmctld", "slurmdbd", "munge", "mariadb-server"} <= set(packages["repository"])


def test_a_mirror_can_be_named(monkeypatch, tmp_path):
    monkeypatch.delenv("LAB_MIRROR", raising=False)
    assert recipe.builder(recipe.packages(), tmp_path)[-2:] == ["trixie", str(tmp_path)]
    monkeypatch.setenv("LAB_MIRROR", "http://mirror.example/debian")
    assert recipe.builder(recipe.packages(), tmp_path)[-1] == "http://mirror.example/debian"
