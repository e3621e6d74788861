# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which hosts get which emulated tools."""

import pytest

from lab.emulators import provision
from lab.emulators.common import family
from lab.hosts import site as sites
from lab.hosts.paths import Paths
from lab.hosts.provision import Context


@pytest.fixture
def install(tmp_path):
    site = sites.load(1)
    paths = Paths(1, tmp_path / "state", tmp_path / "cache")

    def run(name):
        provision.prepare(site, paths)
        disk = tmp_path / name
        provision.provision(Context(site, site.hosts[name], paths, disk, tmp_path, frozenset()))
        return disk

    return run


def tools(disk):
    return {path.name for path in disk.rglob("*") if path.is_symlink() and str(path.readlink()) == provision.LAUNCHER}


def test_a_gpu_node_has_everything(install):
    assert {"mlnx_qos", "cma_roce_tos", "nvidia-smi", "mmaddnode", "mmlsmount", "mmfsd"} <= tools(install("gpu01"))


def test_other_hosts_have_storage_scale_only(install):
    names = tools(install("nsd1"))
    assert names
    assert {family(name) for name in names} == {"gpfs"}


def test_every_installed_tool_is_known_to_the_launcher(install):
    assert None not in {family(name) for name in tools(install("gpu01"))}


def test_the_daemon_starts_at_boot(install):
    disk = install("gpu01")
    assert (disk / "etc/systemd/system/multi-user.target.wants/gpfs.service").is_symlink()


def test_only_the_founder_is_born_a_member(install):
    assert (install("nsd1") / "var/mmfs/gen/mmsdrfs").exists()
    assert not (install("gpu01") / "var/mmfs").exists()
