# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a virtual machine is started with, and what it is given."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.hosts import network, site, vm
from lab.hosts.paths import Paths
from lab.hosts.provision import Context
from lab.hosts.site import Machine
from lab.kubernetes import node
from lab.machine import build
from lab.machine.hardware import Hardware
from lab.vm import kernel, machine, packages, provision

SITE = site.load(43, site.file_of("isolation"))
PATHS = Paths(43, Path("/state"), Path("/cache"))
HOST = SITE.hosts["gpu01"]


def test_modules_load_after_those_that_they_need() -> None:
    dependencies = (
        "k/9p.ko.xz: k/netfs.ko.xz k/9pnet.ko.xz\nk/netfs.ko.xz:\nk/9pnet.ko.xz:\nk/9pnet-virtio.ko.xz: k/9pnet.ko.xz\n"
    )
    order = kernel.load_order(dependencies, ["9pnet_virtio", "9p"])
    assert order == ["k/9pnet.ko.xz", "k/9pnet-virtio.ko.xz", "k/netfs.ko.xz", "k/9p.ko.xz"]


def test_the_guest_only_reads_its_root_and_writes_to_what_it_shares() -> None:
    plugged = machine.Network({"02:00": "dbX", "02:01": "dbY"}, "10.77.43.21/24", "10.77.43.1")
    root = machine.Root(Path("/root"), Path("/volume"), {"/var/lib/lab": Path("/emu")})
    argv = machine.boot(kernel.Kernel(Path("/k")), root, 4, 2048, plugged)
    assert "tcg,thread=single" in argv and not any("kvm" in word for word in argv)
    assert "local,path=/root,mount_tag=root,security_model=passthrough,multidevs=remap,readonly=on" in argv
    assert "local,path=/emu,mount_tag=shared0,security_model=passthrough,multidevs=remap" in argv
    assert "virtio-net-pci,netdev=net1,mac=02:01" in argv
    assert "lab.shared=/var/lib/lab " in argv[argv.index("-append") + 1]
    assert "lab.address=10.77.43.21/24 lab.gateway=10.77.43.1" in argv[argv.index("-append") + 1]


def test_a_virtual_machine_has_taps_and_no_namespace() -> None:
    lines = network.cable_lines(SITE, HOST, PATHS)
    assert lines[0] == "tuntap add dev db43gpu01 mode tap"
    assert not any("veth" in line or "netns" in line for line in lines)
    assert "veth" in network.cable_lines(SITE, SITE.hosts["ctl"], PATHS)[0]


def test_each_gpu_has_a_device_number_of_its_own() -> None:
    assert provision.device_files(Machine(4, 4096, 2)).splitlines() == [
        "c /dev/nvidia0 0666 root root - 203:0",
        "c /dev/nvidia1 0666 root root - 203:1",
    ]


def test_each_socket_is_a_numa_node_with_its_own_processors_gpus_and_memory() -> None:
    plugged = machine.Network({"02:00": "dbX"}, "10.77.43.22/24", "10.77.43.1")
    argv = machine.boot(kernel.Kernel(Path("/k")), machine.Root(Path("/root"), Path("/volume")), 4, 2048, plugged, 2)
    assert "4,sockets=2,cores=2,threads=1" in argv
    assert "node,nodeid=1,cpus=2-3,memdev=memory1" in argv and "memory-backend-ram,id=memory1,size=1024M" in argv
    assert Hardware.within(Machine(4, 2048, 4, 2)).gpu_numa == (0, 0, 1, 1)


def test_gpus_without_a_driver_behind_them_have_the_numbers_and_files_of_real_ones() -> None:
    amd, divided = (SITE.hosts[name].kind.vm for name in ("amd01", "slice01"))
    assert amd and divided
    files, links = build.gpus_alone(Hardware.within(amd))
    assert files["devices"].splitlines() == [
        "/dev/kfd 511 0",
        "/dev/dri/renderD128 226 128",
        "/dev/dri/renderD136 226 136",
    ]
    assert (files["binds"], "layer/sys/class/drm/renderD136/device" in links) == ("", True)
    files, _ = build.gpus_alone(Hardware.within(divided))
    assert (files["binds"], files["devices"].splitlines()[1]) == ("/proc/driver\n", "/dev/nvidia1 195 1")


def test_pods_get_the_device_files_of_gpus_where_they_can_be_opened() -> None:
    hardware = Hardware(1, 1, 1, 1024, 1, gpu_numa=(0,))
    found = [json.loads(node.devices(hardware, files))["resources"][0]["devices"][0] for files in (True, False)]
    assert found == [{"id": "GPU-0", "numa": 0, "path": "/dev/nvidia0"}, {"id": "GPU-0", "numa": 0}]


def test_accounts_of_further_packages_join_those_of_the_lab(tmp_path: Path) -> None:
    texts = {"image": "root:x:0\n", "disk": "root:x:0\nada:x:2001\n", "layer": "root:x:0\nslurm:x:64030\n"}
    for place, text in texts.items():
        (tmp_path / place / "etc").mkdir(parents=True)
        for name in ("passwd", "group", "shadow"):
            (tmp_path / place / "etc" / name).write_text(text)
    context = Context(SITE, HOST, PATHS, tmp_path / "disk", tmp_path / "image", frozenset())
    provision.add_accounts(context, tmp_path / "layer")
    assert (tmp_path / "disk/etc/passwd").read_text() == "root:x:0\nada:x:2001\nslurm:x:64030\n"


def test_the_layer_of_another_image_is_another_one() -> None:
    assert packages.key(Path("/cache/image/one/tree")) != packages.key(Path("/cache/image/two/tree"))


def test_a_virtual_machine_pretends_no_hardware(tmp_path: Path) -> None:
    file = tmp_path / "both.yml"
    file.write_text("kinds: {both: {vm: {cpus: 1, memory_mib: 512}, hardware: {}}}\nhosts: {}\n")
    with pytest.raises(LabError, match=r"kinds\.both has vm and hardware"):
        site.load(43, file)


def test_an_unreachable_host_is_unknown(tmp_path: Path) -> None:
    paths = Paths(43, tmp_path, tmp_path)
    assert vm.systemd_state(HOST, paths, wait=False, seconds=20) == "unknown"


def test_a_guest_that_does_not_answer_yet_gets_the_question_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [subprocess.CompletedProcess([], 255, ""), subprocess.CompletedProcess([], 0, "running\n")]
    monkeypatch.setattr(vm, "PAUSE_S", 0)
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_options: answers.pop(0))
    assert vm.systemd_state(HOST, PATHS, wait=True, seconds=60) == "running"
