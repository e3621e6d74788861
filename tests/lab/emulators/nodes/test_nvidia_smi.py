# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""nvidia-smi against the forms of public logs, its refusals, and the processes that it sees."""

import json
import re
import signal
import subprocess

import pytest

QUERY = "--query-gpu=index,uuid,name,driver_version,memory.total,pci.bus_id"
APPS = "--query-compute-apps=gpu_uuid,pid,process_name,used_memory"


@pytest.fixture
def smi(host):
    """Run nvidia-smi on a host with two GPUs."""
    for name in ("nvidia0", "nvidia1", "nvidiactl"):
        (host.directory / "dev" / name).touch()

    def run(*arguments):
        return host.run("nvidia-smi", *arguments)

    return run


@pytest.fixture
def uuids(smi):
    return re.findall(r"UUID: (GPU-[0-9a-f-]{36})\)", smi("-L").stdout)


@pytest.fixture
def register(host):
    def write(pid, **use):
        apps = host.directory / "lab/nvidia_smi/apps"
        apps.mkdir(parents=True, exist_ok=True)
        (apps / str(pid)).write_text(json.dumps(use))
        return apps / str(pid)

    return write


def test_the_list(smi, uuids, transcript):
    assert smi("-L").stdout == transcript("nodes/nvidia_smi/list.txt").format(uuid0=uuids[0], uuid1=uuids[1])


def test_a_query_of_gpus(smi, uuids, transcript):
    wanted = transcript("nodes/nvidia_smi/query_gpu.txt").format(uuid0=uuids[0], uuid1=uuids[1])
    assert smi(QUERY, "--format=csv").stdout == wanted
    assert smi(QUERY, "--format=csv,noheader").stdout == wanted.partition("\n")[2]
    assert smi(QUERY, "--format=csv,noheader,nounits").stdout == wanted.partition("\n")[2].replace(" MiB", "")
    assert smi("-i", "1", QUERY, "--format=csv,noheader").stdout == wanted.splitlines(keepends=True)[2]


def test_uuids_stay_and_differ_between_hosts(host, smi, uuids):
    host.environment["LAB_HOSTNAME"] = "gpu02"
    others = re.findall(r"UUID: (GPU-[0-9a-f-]{36})\)", smi("-L").stdout)
    assert len({*uuids, *others}) == 4


def test_processes_that_registered(host, smi, uuids, register, transcript):
    (host.directory / "proc/4711").mkdir()
    register(4711, gpus=[0], used_memory=61200, process_name="python")
    wanted = transcript("nodes/nvidia_smi/query_compute_apps.txt").format(uuid0=uuids[0], pid=4711)
    assert smi(APPS, "--format=csv").stdout == wanted
    used = smi("--query-gpu=memory.used", "--format=csv,noheader,nounits").stdout
    assert used.split() == ["61200", "0"]


def test_a_dead_process_is_forgotten(host, smi, register):
    left = register(4711, gpus=[0])
    assert smi(APPS, "--format=csv").stdout == "gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n"
    assert smi(APPS, "--format=csv,noheader").stdout == ""
    assert not left.exists()


def test_a_process_that_holds_a_device_is_seen(host, smi, uuids):
    descriptors = host.directory / "proc/4712/fd"
    descriptors.mkdir(parents=True)
    (descriptors / "3").symlink_to("/dev/nvidia1")
    (descriptors / "4").symlink_to("/dev/nvidiactl")
    (host.directory / "proc/4712/cmdline").write_bytes(b"/usr/bin/python3\0train.py\0")
    assert smi(APPS, "--format=csv,noheader").stdout == f"{uuids[1]}, 4712, /usr/bin/python3, 520 MiB\n"


def test_no_driver_and_no_devices(host, smi, transcript):
    for index in (0, 1):
        (host.directory / f"dev/nvidia{index}").unlink()
    none = smi("-L")
    assert (none.returncode, none.stdout, none.stderr) == (6, "No devices were found\n", "")
    (host.directory / "dev/nvidiactl").unlink()
    failed = smi(QUERY, "--format=csv")
    assert (failed.returncode, failed.stdout) == (9, transcript("nodes/nvidia_smi/no_driver.txt"))


def test_an_unknown_field_is_named(smi):
    result = smi("--query-gpu=index,cuda_version", "--format=csv")
    assert result.returncode == 2
    assert result.stdout.startswith('Field "cuda_version" is not a valid field to query.\n')


@pytest.mark.parametrize("arguments", [(QUERY,), ("--bogus",), ("topo", "-m")])
def test_other_command_lines_are_refused(smi, arguments):
    result = smi(*arguments)
    assert result.returncode == 2
    assert result.stdout.startswith("Invalid combination of input arguments.")


class TestFaults:
    @pytest.fixture
    def arm(self, host):
        return lambda effect: host.device("nvidia_smi").add_fault("nvidia-smi", effect)

    def test_refuse(self, smi, arm, transcript):
        arm("refuse")
        assert smi("-L").stdout == transcript("nodes/nvidia_smi/no_driver.txt")
        assert smi("-L").returncode == 0

    def test_lie_shows_an_idle_server(self, host, smi, arm, register):
        (host.directory / "proc/4711").mkdir()
        register(4711, gpus=[0, 1])
        arm("lie")
        assert smi(APPS, "--format=csv,noheader").stdout == ""
        assert len(smi(APPS, "--format=csv,noheader").stdout.splitlines()) == 2

    def test_hang(self, host, smi, arm):
        arm("hang")
        process = host.start("nvidia-smi", "-L")
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.kill()
        process.communicate()

    def test_die_in_the_middle_of_the_answer(self, smi, arm):
        arm("die")
        result = smi("-L")
        assert (result.returncode, len(result.stdout.splitlines())) == (-signal.SIGKILL, 1)

    def test_drift_loses_a_gpu(self, smi, arm):
        arm("drift")
        assert len(smi("-L").stdout.splitlines()) == 1


def test_the_journal_has_reads_only(host, smi):
    smi("-L")
    assert [(call["rc"], call["writes"]) for call in host.device("nvidia_smi").calls()] == [(0, False)]
