# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that show a pretended machine, compared with what a real one of that shape shows."""

import posixpath

import pytest

from lab.machine import build, trees
from lab.machine.hardware import Hardware

SERVER = Hardware(2, 32, 2, 2113929216, 2, "h100", (0, 0, 0, 0, 1, 1, 1, 1), (0, 0, 0, 0, 1, 1, 1, 1))
ONE_SOCKET = Hardware(1, 4, 1, 8 << 20, 1, "h100", (0,))


@pytest.mark.parametrize("hardware", [SERVER, ONE_SOCKET])
def test_every_cpu_is_shown_in_both_trees(hardware):
    files = trees.processors(hardware)
    for cpu in range(hardware.cpus):
        node = cpu // hardware.cpus_per_node
        for place in (f"cpu/cpu{cpu}", f"node/node{node}/cpu{cpu}"):
            assert files[f"bind/sys/devices/system/{place}/topology/physical_package_id"] == f"{node}\n"
    assert f"bind/sys/devices/system/cpu/cpu{hardware.cpus}/online" not in files


def test_core_numbers_restart_in_each_socket():
    files = trees.processors(SERVER)
    assert files["bind/sys/devices/system/cpu/cpu66/topology/core_id"] == "1\n"
    assert files["bind/sys/devices/system/cpu/cpu67/topology/thread_siblings_list"] == "66-67\n"


def test_memory_of_the_nodes_adds_up():
    files = trees.processors(SERVER)
    totals = [files[f"bind/sys/devices/system/node/node{node}/meminfo"].split()[3] for node in (0, 1)]
    assert sum(map(int, totals)) == SERVER.memory_kb
    assert trees.meminfo(SERVER).splitlines()[0] == "MemTotal:       2113929216 kB"


def test_distances():
    files = trees.processors(SERVER)
    assert [files[f"bind/sys/devices/system/node/node{node}/distance"] for node in (0, 1)] == ["10 21\n", "21 10\n"]


@pytest.mark.parametrize(
    ("cpus", "written"),
    [
        (range(0, 2), "00000000,00000000,00000000,00000003"),
        (range(64, 128), "ffffffff,ffffffff,00000000,00000000"),
    ],
)
def test_masks_are_the_kernels(cpus, written):
    assert trees.mask(SERVER, cpus) == written


def test_rail_and_rdma_device_meet_at_one_pci_function():
    files, links = trees.rails(SERVER)

    def resolve(place):
        return posixpath.normpath(posixpath.join(posixpath.dirname(place), links[place]))

    rdma = resolve("layer/sys/class/infiniband/mlx5_5")
    function = resolve("layer/sys/devices/virtual/net/rail5/device")
    assert rdma == f"{function}/infiniband/mlx5_5"
    assert resolve(f"{rdma}/device") == function
    assert resolve(f"{function}/net/rail5") == "layer/sys/devices/virtual/net/rail5"
    assert files[f"{function}/numa_node"] == "1\n"
    assert files[f"{function}/local_cpulist"] == "64-127\n"


def test_a_plain_kubelet_host_gets_its_sysctls_only():
    files, links = build.contents(None)
    assert files["binds"].split() == [
        "/proc/sys/vm/overcommit_memory",
        "/proc/sys/kernel/panic",
        "/proc/sys/kernel/panic_on_oops",
    ]
    assert (files["hwloc"], files["gpus"], links) == ("", "0\n", {})


def test_every_bind_has_a_source(tmp_path):
    directory = build.ensure(tmp_path, SERVER)
    for place in (directory / "binds").read_text().split():
        assert (directory / f"bind{place}").exists()
    assert (directory / "memory.so").stat().st_size > 0
    assert build.ensure(tmp_path, SERVER) == directory
    assert [path.name for path in (tmp_path / "machine").iterdir()] == [directory.name]
