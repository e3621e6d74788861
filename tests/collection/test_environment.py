# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The execution environment: what ansible-builder makes of its definition, as far as that needs no image."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.collection.installed import NAME, ROOT, Site, bare_environment, run

UV = ROOT / ".cache/uv/bin/uv"
DEFINITION: Any = yaml.safe_load((ROOT / "execution-environment.yml").read_text())
GALAXY: Any = yaml.safe_load((ROOT / "galaxy.yml").read_text())
PROJECT: Any = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ARTIFACT = f"drawbridge-drawbridge-{GALAXY['version']}.tar.gz"
LOCK = ".config/ee-requirements.lock"
PINNED = re.compile(r"[a-z0-9./-]+:[A-Za-z0-9._-]+@sha256:[0-9a-f]{64}")
STAGES = {"base", "galaxy", "builder", "$EE_BASE_IMAGE"}
IMPORTED = "import hier_config, jsonpatch, kubernetes, netmiko"


@pytest.fixture(scope="module")
def context(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The context that ansible-builder writes beside the definition and the collection's archive."""
    folder = tmp_path_factory.mktemp("environment")
    shutil.copy(ROOT / "execution-environment.yml", folder)
    shutil.copy(site.export.parent / ARTIFACT, folder)
    (folder / LOCK).parent.mkdir()
    shutil.copy(ROOT / LOCK, folder / LOCK)
    made = run(["ansible-builder", "create"], folder, bare_environment(folder / "home"))
    assert made.code == 0, made.text
    return folder / "context"


def asked(site: Site, context: Path) -> dict[str, list[str]]:
    """Packages that the builder will find that the collection needs: of Python and of the system."""
    script = context / "_build/scripts/introspect.py"
    words = ["python", str(script), "introspect", str(site.installed.parents[2])]
    done = run(words, context, site.environment)
    assert done.code == 0, done.text
    found: dict[str, list[str]] = yaml.safe_load(done.out.partition("---")[2])
    return {kind: [line.partition("#")[0].strip() for line in lines] for kind, lines in found.items()}


def normal(requirement: str) -> str:
    return requirement.replace(" ", "")


def test_the_definition_names_the_versions_of_the_project(context: Path) -> None:
    needs, wanted = DEFINITION["dependencies"], {normal(line) for line in PROJECT["dependencies"]}
    assert needs["ansible_core"]["package_pip"] in wanted
    pinned = yaml.safe_load((ROOT / "requirements.yml").read_text())["collections"]
    own = {"name": f"collections/{ARTIFACT}", "type": "file"}
    assert yaml.safe_load((context / "_build/requirements.yml").read_text())["collections"] == [own, *pinned]
    assert (context / "_build/collections" / ARTIFACT).is_file()


def test_every_image_has_a_digest(context: Path) -> None:
    lines = (context / "Dockerfile").read_text()
    named = {DEFINITION["images"]["base_image"]["name"], *re.findall(r"(?:^FROM |--from=)(\S+)", lines, re.MULTILINE)}
    assert len(named - STAGES) == 2
    assert {name for name in named - STAGES if not PINNED.fullmatch(name)} == set()


def test_the_other_collection_is_that_of_the_pinned_package(context: Path) -> None:
    digest = hashlib.sha256((kubernetes_core() / "MANIFEST.json").read_bytes()).hexdigest()
    assert f'echo "{digest}  MANIFEST.json" | sha256sum --check' in (context / "Dockerfile").read_text()


def kubernetes_core() -> Path:
    """The collection of the `ansible` package, whose digest requirements.lock has."""
    spec = find_spec("ansible_collections.kubernetes.core")
    assert spec and spec.submodule_search_locations
    return Path(next(iter(spec.submodule_search_locations)))


def test_a_sites_own_definition_finds_what_the_collection_needs(site: Site, context: Path) -> None:
    """Of the packages that the project names, Ansible itself is the definition's matter."""
    found = asked(site, context)
    packages = {normal(line) for line in PROJECT["dependencies"] if not line.startswith("ansible")}
    assert set(map(normal, found["python"])) == packages
    assert [line for line in found["system"] if line.startswith("openssh-clients ")]


def test_the_lock_makes_an_environment_that_works(site: Site, context: Path, tmp_path: Path) -> None:
    """With the lock installed, all that the builder asks pip for is there: it needs no index."""
    place, needs = tmp_path / "venv", DEFINITION["dependencies"]
    refs = " ".join(needs[key]["package_pip"] for key in ("ansible_core", "ansible_runner"))
    lines = re.findall(r"pip install --no-cache-dir ([a-z$'][^-].*)", (context / "Dockerfile").read_text())
    assert len(lines) == 3
    wanted = " ".join(lines).replace("$ANSIBLE_INSTALL_REFS", refs).replace("'", "").split()
    pip = [str(UV), "pip", "install", "--quiet", "--python", str(place / "bin/python")]
    for words in (
        [str(UV), "venv", "--quiet", "--python", sys.executable, str(place)],
        [*pip, "--require-hashes", "--only-binary", ":all:", "-r", str(context / "_build/python/ee-requirements.lock")],
        [*pip, "--no-index", *wanted, *asked(site, context)["python"]],
    ):
        subprocess.run(words, check=True)
    # no Galaxy server: the other collection comes from this environment's packages
    shutil.copytree(kubernetes_core(), tmp_path / "share/ansible_collections/kubernetes/core", symlinks=True)
    paths = {"ANSIBLE_COLLECTIONS_PATH": f"{site.installed.parents[2]}:{tmp_path / 'share'}"}
    environment = bare_environment(tmp_path / "home") | paths | {"PATH": f"{place / 'bin'}:/usr/bin:/bin"}
    subprocess.run([str(place / "bin/python"), "-c", IMPORTED], check=True)
    words = [str(place / "bin/ansible-playbook"), "-i", str(site.installed / "inventories/example-rails")]
    for playbook in ("check", "plan"):
        done = run([*words, f"{NAME}.{playbook}", "-e", f"plan_into={tmp_path / 'plan'}"], tmp_path, environment)
        assert done.code == 0, done.text
    assert (tmp_path / "plan/index.yml").is_file()
