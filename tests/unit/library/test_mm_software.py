# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Kernel modules by the emulated mmbuildgpl, and a cluster's configuration. Packages have tests of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.emulators.storage.gpfs.software import TOOLS
from tests.unit.library.emulated import KERNEL
from tests.unit.library.gpfs_site import Site
from tests.unit.library.ways import ALONE, VISIT, meet_faults


@pytest.fixture(params=[ALONE, VISIT])
def site(request: Any, tmp_path: Path, monkeypatch: Any, capfd: Any) -> Site:
    site = Site(tmp_path, monkeypatch, capfd)
    site.hosts["gpu01"].way = request.param
    site.change(lambda state: state.update(lag_calls=0))
    (site.hosts["gpu01"].root / "modules" / KERNEL / "build/include").mkdir(parents=True)
    (site.hosts["gpu01"].bin / "mmfsd").touch()
    (site.hosts["gpu01"].root / "lpp/src").mkdir(parents=True)
    for tool in TOOLS:
        (site.hosts["gpu01"].bin / tool).touch()
    site.hosts["gpu01"].program("dpkg-query", f"echo linux-headers-{KERNEL} install ok installed")
    return site


def software(site: Site, check: bool = False, **more: Any) -> dict[str, Any]:
    return site.run("gpu01", "mm_software", check, **{"version": "5.2.1-0", "kernels": ["6.*"], **more})


def test_modules_that_are_older_than_gpfs_are_built_again_as_predicted(site: Site) -> None:
    done = site.converge("gpu01", software)
    assert done["steps"] == [f"build GPFS's kernel modules for kernel {KERNEL}"]
    assert site.written("gpu01") == ["mmbuildgpl"]


@pytest.mark.parametrize("effect", ["refuse", "lie", "hang", "die"])
@meet_faults("site")
def test_faults_are_reported_and_the_next_run_finishes(site: Site, effect: str) -> None:
    site.hosts["gpu01"].arm("gpfs", "mmbuildgpl", effect)
    assert software(site)["failed"]
    done = software(site)
    assert not done.get("failed"), done["msg"]


def test_a_host_that_its_cluster_has_deleted_forgets_it(site: Site) -> None:
    site.run("nsd1", "mm_node", nodes=["gpu01"], accept_license=True)
    site.run("gpu01", "mm_mount", True, filesystems=[])
    known = site.run("gpu01", "mm_software")["local"]["cluster_id"]
    assert known == site.state()["id"]
    site.change(lambda state: (state["nodes"].pop("gpu01"), state["leftovers"].append("gpu01")))
    done = site.run("gpu01", "mm_software", deleted_from=known)
    assert done["steps"] == ["forget the configuration of the cluster, which has deleted this host"], done
    assert done["local"] == {"cluster_id": ""}
