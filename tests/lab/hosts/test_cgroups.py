# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from lab.hosts import cgroups

HYBRID = """\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw
"""
UNIFIED = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"


def test_cgroup2_is_found_on_both_layouts():
    assert cgroups.hierarchy(HYBRID) == Path("/sys/fs/cgroup/unified")
    assert cgroups.hierarchy(UNIFIED) == Path("/sys/fs/cgroup")
    assert cgroups.hierarchy("22 27 0:21 / /proc rw - proc proc rw\n") is None


def test_a_process_knows_its_group_on_both_layouts():
    assert cgroups.own("9:name=systemd:/x\n1:cpu:/\n0::/a/b\n") == Path("a/b")
    assert cgroups.own("0::/\n") == Path()
    assert cgroups.own("0::/../../hosts/outer\n") == Path()


def test_only_controllers_of_services_count(tmp_path):
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory hugetlb pids rdma\n")
    assert cgroups.controllers(tmp_path) == {"cpuset", "cpu", "io", "memory", "pids"}
    (tmp_path / "cgroup.controllers").write_text("hugetlb\n")
    assert cgroups.controllers(tmp_path) == set()
