# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""nvidia-smi against the forms of public logs, its refusals, and the processes that it sees."""

import json
import re
import signal
import subprocess

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus import nvidia_state

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
    """Let a process use GPUs as it says."""

    def write(pid, *, lives=True, **use):
        if lives:
            (host.directory / f"proc/{pid}").mkdir()
        apps = host.directory / "lab/nvidia_smi/apps"
        apps.mkdir(parents=True, exist_ok=True)
        (apps / str(pid)).write_text(json.dumps(use))
        return apps / str(pid)

    return write


def test_list_and_query_read_as_in_logs(host, smi, uuids, transcript):
    assert smi("-L").stdout == transcript("nodes/nvidia_smi/list.txt").format(uuid0=uuids[0], uuid1=uuids[1])
    assert [(call["rc"], call["writes"]) for call in host.device("nvidia_smi").calls()] == [(0, False)] * 2
    wanted = transcript("nodes/nvidia_smi/query_gpu.txt").format(uuid0=uuids[0], uuid1=uuids[1])
    assert smi(QUERY, "--format=csv").stdout == wanted
    assert smi(QUERY, "--format=csv,noheader").stdout == wanted.partition("\n")[2]
    assert smi(QUERY, "--format=csv,noheader,nounits").stdout == wanted.partition("\n")[2].replace(" MiB", "")
    assert smi("-i", "1", QUERY, "--format=csv,noheader").stdout == wanted.splitlines(keepends=True)[2]
    host.environment["LAB_HOSTNAME"] = "gpu02"
    others = re.findall(r"UUID: (GPU-[0-9a-f-]{36})\)", smi("-L").stdout)
    assert len({*uuids, *others}) == 4


def test_processes_that_registered_until_they_end(smi, uuids, register, transcript):
    left = register(4710, lives=False, gpus=[0])
    assert smi(APPS, "--format=csv").stdout == "gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n"
    assert (smi(APPS, "--format=csv,noheader").stdout, left.exists()) == ("", False)
    register(4711, gpus=[0], used_memory=61200, process_name="python")
    wanted = transcript("nodes/nvidia_smi/query_compute_apps.txt").format(uuid0=uuids[0], pid=4711)
    assert smi(APPS, "--format=csv").stdout == wanted
    assert smi("--query-gpu=memory.used", "--format=csv,noheader,nounits").stdout.split() == ["61200", "0"]


def test_a_process_that_holds_a_device_is_seen(host, smi, uuids):
    descriptors = host.directory / "proc/4712/fd"
    descriptors.mkdir(parents=True)
    (descriptors / "3").symlink_to("/dev/nvidia1")
    (descriptors / "4").symlink_to("/dev/nvidiactl")
    (host.directory / "proc/4712/cmdline").write_bytes(b"/usr/bin/python3\0train.py\0")
    assert smi(APPS, "--format=csv,noheader").stdout == f"{uuids[1]}, 4712, /usr/bin/python3, 520 MiB\n"


def test_the_state_is_sound_but_for_planted_faults(host, smi):
    smi("-L")
    sound = nvidia_state.read([smi("-q", "-x").stdout])
    assert [(gpu.unknown, gpu.values["slowed"], gpu.values["fabric"]) for gpu in sound] == [({}, "", "Completed")] * 2
    assert nvidia_state.read_links(smi("nvlink", "-s").stdout) == {at: [26.562] * 18 for at in (0, 1)}
    with host.device("proof").state() as state:
        faults = {"pcie": [4, 16], "percent": 60, "links_down": 1, "xid": 79, "xml": {"dram_uncorrectable": "3"}}
        state["gpus"] = {"1": faults}
    first, second = nvidia_state.read([smi("-q", "-x").stdout])
    assert (first, second.unknown, second.values["generation"]) == (sound[0], {}, 4)
    assert (second.values["uncorrected"], second.values["slowed"]) == (3, "hw slowdown, hw thermal slowdown")
    assert nvidia_state.read_links(smi("nvlink", "-s").stdout)[1] == [0, *[26.562] * 17]
    [entry] = nvidia_state.read_log(host.run("dmesg").stdout)
    assert (entry.pci, entry.code) == (second.values["pci"], "Xid 79")
    host.device("dmesg").add_fault("dmesg", "refuse")
    assert host.run("dmesg").returncode == 1


def test_no_driver_and_no_devices(host, smi, transcript):
    for index in (0, 1):
        (host.directory / f"dev/nvidia{index}").unlink()
    none = smi("-L")
    assert (none.returncode, none.stdout, none.stderr) == (6, "No devices were found\n", "")
    (host.directory / "dev/nvidiactl").unlink()
    failed = smi(QUERY, "--format=csv")
    assert (failed.returncode, failed.stdout) == (9, transcript("nodes/nvidia_smi/no_driver.txt"))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--query-gpu=index,cuda_version", "--format=csv"), 'Field "cuda_version" is not a valid field to query.\n'),
        ((QUERY,), "Invalid combination of input arguments."),
        (("--bogus",), "Invalid combination of input arguments."),
        (("topo", "-m"), "Invalid combination of input arguments."),
    ],
)
def test_other_command_lines_are_refused(smi, arguments, told):
    result = smi(*arguments)
    assert (result.returncode, result.stdout.startswith(told)) == (2, True)


@pytest.mark.parametrize(
    ("effect", "code", "listed", "used"),
    [("refuse", 9, 2, 2), ("lie", 0, 2, 0), ("die", -signal.SIGKILL, 1, 1), ("drift", 0, 1, 1)],
)
def test_a_fault_strikes_one_call(host, smi, register, effect, code, listed, used):
    """A lie is an idle server, a drift a GPU that fell off its bus, a death the half of an answer."""
    register(4711, gpus=[0, 1])
    for arguments, lines in ((("-L",), listed), ((APPS, "--format=csv,noheader"), used)):
        host.device("nvidia_smi").add_fault("nvidia-smi", effect)
        result = smi(*arguments)
        assert (result.returncode, len(result.stdout.splitlines())) == (code, lines)
        assert ("has failed because it couldn't communicate" in result.stdout) is (effect == "refuse")
        after = smi(*arguments)
        assert (after.returncode, len(after.stdout.splitlines())) == (0, 2)


def test_a_call_may_hang(host, smi):
    smi("-L")
    host.device("nvidia_smi").add_fault("nvidia-smi", "hang")
    process = host.start("nvidia-smi", "-L")
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    process.kill()
    process.communicate()
