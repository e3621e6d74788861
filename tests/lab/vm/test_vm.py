# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a virtual machine is started with, and what it is given."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.hosts import network, site, vm
from lab.hosts.paths import Paths
from lab.hosts.site import Machine
from lab.vm import kernel, machine, provision

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
    assert "tcg,thread=multi" in argv and not any("kvm" in word for word in argv)
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


def test_a_virtual_machine_pretends_no_hardware(tmp_path: Path) -> None:
    file = tmp_path / "both.yml"
    file.write_text("kinds: {both: {vm: {cpus: 1, memory_mib: 512}, hardware: {}}}\nhosts: {}\n")
    with pytest.raises(LabError, match=r"kinds\.both has vm and hardware"):
        site.load(43, file)


def test_a_host_that_cannot_be_asked_is_unknown(tmp_path: Path) -> None:
    paths = Paths(43, tmp_path, tmp_path)
    assert vm.systemd_state(HOST, paths, wait=False, seconds=20) == "unknown"


def test_a_guest_that_does_not_answer_yet_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [subprocess.CompletedProcess([], 255, ""), subprocess.CompletedProcess([], 0, "running\n")]
    monkeypatch.setattr(vm, "PAUSE_S", 0)
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_options: answers.pop(0))
    assert vm.systemd_state(HOST, PATHS, wait=True, seconds=60) == "running"
