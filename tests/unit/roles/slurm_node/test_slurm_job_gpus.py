# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lab.emulators.nvml.state import proc
from tests.unit.module_utils.nodes.gpus import kfd

PROGRAM = Path(__file__).parents[4] / "roles/slurm_node/files/slurm-job-gpus.py"


class Node:
    """The exporter's directory, the driver's directory, and stand-ins for squeue and scontrol."""

    def __init__(self, root: Path) -> None:
        self.root, self.directory, self.driver = root, root / "run/job-mapping", root / "driver"
        (root / "bin").mkdir()
        self.program("squeue", "true")
        self.program("scontrol", "exit 1")

    def program(self, name: str, body: str) -> None:
        path = self.root / "bin" / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> {self.root}/asked\n{body}\n')
        path.chmod(0o755)

    def squeue(self, body: str) -> None:
        self.program("squeue", body)

    def job(self, job: int, resources: str, more: str = "") -> None:
        """What slurmctld shows of a job. Slurm 24.11 printed these lines."""
        place = "StepMgrEnabled=Yes    " + " ".join(resources.split("\n"))
        lines = f"{more}JobId={job} JobName=wrap UserId=root(0) NumNodes=1 JOB_GRES=gpu:h100:3 {place}   Power="
        (self.root / "job").write_text(f"{lines}\n")
        self.program("scontrol", f'case "$*" in *hostnames*) echo gpu01; echo gpu02;; *) cat {self.root}/job;; esac')

    def gpu(self, address: str, minor: int) -> None:
        """A GPU as the driver's files show it."""
        folder = self.driver / "gpus" / address
        folder.mkdir(parents=True)
        lines = ("Model: \t\t NVIDIA H100 80GB HBM3", "IRQ:   \t\t 120", f"Device Minor: \t {minor}")
        (folder / "information").write_text("".join(f"{line}\n" for line in lines))

    def slurmd(self, *records: str) -> None:
        """What slurmd finds, and the numbers of capabilities. Slurm 24.11 and NVIDIA's driver printed such lines."""
        caps = self.root / "nvidia-caps"
        caps.mkdir(exist_ok=True)
        (caps / "mig-minors").write_text(proc([])["nvidia-caps/mig-minors"])
        conf = self.root / "slurm"
        conf.mkdir(exist_ok=True)
        (conf / "slurm.conf").write_text("ClusterName=demo\nSlurmdSpoolDir=/var/spool/slurmd\n slurmdlogfile = /l\n")
        (conf / "cgroup.conf").write_text("ConstrainDevices=yes\nCgroupPlugin=cgroup/v2\n")
        (conf / "gres.conf").write_text("AutoDetect=nvml\n")
        lines = "".join(f"slurmd: Gres Name=gpu {it} Flags=HAS_FILE,HAS_TYPE,ENV_NVML\n" for it in records)
        (self.root / "found").write_text(f"slurmd: gpu/nvml: 2 GPU system device(s) detected\n{lines}")
        shown = f'mkdir -p {self.root}/given; cp "$(dirname "$5")"/* {self.root}/given'
        self.program("slurmd", f"{shown}\ncat {self.root}/found >&2")

    def write(self, job: int, gpus: str, *options: str) -> int:
        """Prolog of a job with the GPUs at these places."""
        count = sum(1 for _ in gpus.split(","))
        self.job(job, f"Nodes=gpu01 CPU_IDs=0-3 Mem=0 GRES=gpu:h100:{count}(IDX:{gpus})")
        return self.run("write", job, gpus, *options)

    def run(self, verb: str, job: int = 0, gpus: str = "", *options: str) -> int:
        env = {"SLURMD_NODENAME": "gpu01", "PATH": f"{self.root}/bin:{os.environ['PATH']}"}
        env |= {"SLURM_JOB_ID": str(job), **({"SLURM_JOB_GPUS": gpus} if gpus else {})}
        env |= {"SLURM_JOB_USER": "ada", "SLURM_JOB_PARTITION": "batch"}
        env |= {"SLURM_CONF": str(self.root / "slurm/slurm.conf")}
        # by the Python that runs the tests: they run on the oldest that nodes may have, too
        argv = [sys.executable, str(PROGRAM), "--directory", str(self.directory), "--driver", str(self.driver)]
        argv += [*options, verb]
        return subprocess.run(argv, env=env, check=False, timeout=120).returncode

    def shown(self) -> dict[str, str]:
        """What the exporter reads, and all that lies beside it."""
        return {file.name: file.read_text() for file in self.directory.iterdir()} if self.directory.exists() else {}


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


AMD = ("--vendor", "amd", "--devices", ",".join(map(str, kfd.MINORS)))


@pytest.fixture
def mi300x(node: Node) -> Node:
    """A node with eight GPUs of AMD."""
    node.driver = kfd.host(node.root / "host") / "sys/class/kfd/kfd/topology"
    return node


def test_amds_exporter_gets_an_object_for_each_gpu_named_by_its_place_in_the_topology(mi300x: Node) -> None:
    """Not by its render node: the exporter's own script would name the second GPU 8."""
    assert mi300x.write(7, "1,3", *AMD) == 0
    shown = {name: json.loads(text) for name, text in mi300x.shown().items()}
    assert {name: (it["SLURM_JOB_ID"], it["CUDA_VISIBLE_DEVICES"]) for name, it in shown.items()} == {
        "1": ("7", "1"),
        "3": ("7", "3"),
    }
    assert (shown["1"]["SLURM_JOB_USER"], shown["1"]["SLURM_JOB_GPUS"]) == ("ada", "1,3")
    assert all(isinstance(value, str) for it in shown.values() for value in it.values())
    modes = {stat.S_IMODE(file.stat().st_mode) for file in mi300x.directory.iterdir()}
    assert (modes, stat.S_IMODE(mi300x.directory.stat().st_mode)) == ({0o644}, 0o755)


def test_the_places_in_gres_conf_may_differ_from_the_topology(mi300x: Node) -> None:
    mi300x.write(7, "0", "--vendor", "amd", "--devices", "184,128")
    assert set(mi300x.shown()) == {"7"}


def test_amds_files_end_with_their_job(mi300x: Node) -> None:
    mi300x.write(7, "0", *AMD)
    mi300x.write(8, "1", *AMD)
    (mi300x.directory / "5").write_text("another program's")
    assert mi300x.run("remove", 7, "", "--vendor", "amd") == 0
    mi300x.squeue("true")
    assert set(mi300x.shown()) == {"1", "5"}
    assert mi300x.run("tidy", 0, "", "--vendor", "amd") == 0
    assert set(mi300x.shown()) == {"5"}


def test_a_gpu_that_the_kernel_does_not_list_is_not_guessed(mi300x: Node) -> None:
    (mi300x.driver / "nodes/3/properties").write_text("drm_render_minor 0\n")
    assert mi300x.write(7, "0,1", *AMD) == 0
    assert mi300x.shown() == {}, "all GPUs of the job are named, or none"


def test_a_job_is_named_in_the_files_of_its_gpus_until_its_end(node: Node) -> None:
    assert node.write(7, "0,3") == 0
    assert node.write(8, "1") == 0
    assert node.shown() == {"0": "7\n", "3": "7\n", "1": "8\n"}
    modes = {stat.S_IMODE(file.stat().st_mode) for file in node.directory.iterdir()}
    assert (modes, stat.S_IMODE(node.directory.stat().st_mode)) == ({0o644}, 0o755)
    assert node.run("remove", 7) == 0
    assert node.shown() == {"1": "8\n"}


def test_a_job_without_gpus_has_no_file(node: Node) -> None:
    assert node.run("write", 7) == 0
    assert node.run("remove", 7) == 0
    assert node.shown() == {}
    assert not (node.root / "asked").exists(), "slurmctld need not answer for it"


def test_slurms_numbers_are_places_in_gres_conf_and_the_exporters_follow_the_pci_addresses(node: Node) -> None:
    """The first GPU in gres.conf is /dev/nvidia2, which the driver lists first."""
    node.gpu("0000:1b:00.0", minor=2)
    node.gpu("0000:43:00.0", minor=0)
    node.gpu("0000:9d:00.0", minor=1)
    node.write(7, "0", "--devices", "2,0,1")
    assert set(node.shown()) == {"0"}
    node.write(8, "1-2", "--devices", "2,0,1")
    assert set(node.shown()) == {"0", "1", "2"}
    node.write(9, "1-2")
    assert node.shown() == {"0": "9\n", "1": "8\n", "2": "9\n"}, "without --devices a place is the file's number"


def test_all_types_of_gpus_that_a_job_has_are_named(node: Node) -> None:
    """Each type overwrites SLURM_JOB_GPUS, so that the last one's GPUs are left."""
    node.job(7, "Nodes=gpu[01-02] CPU_IDs=0-3 Mem=0 GRES=gpu:h100:1(IDX:0),gpu:3g.40gb:2(IDX:2-3),nic:1(IDX:5)")
    node.run("write", 7, "0", "--devices", "4,5,6,7")
    assert set(node.shown()) == {"4", "6", "7"}


def test_the_lines_of_other_jobs_and_other_nodes_count_for_nothing(node: Node) -> None:
    other = "JobId=8 ArrayJobId=7 JobName=x Nodes=gpu01 CPU_IDs=0 Mem=0 GRES=gpu:h100:1(IDX:5)\n"
    nodes = "Nodes=gpu03 CPU_IDs=0 Mem=0 GRES=gpu:h100:1(IDX:6)\nNodes=gpu01 CPU_IDs=0 Mem=0 GRES=gpu:h100:1(IDX:1)"
    node.job(7, nodes, other)
    node.program("scontrol", f'case "$*" in *hostnames*) echo gpu03;; *) cat {node.root}/job;; esac')
    node.run("write", 7, "1")
    assert set(node.shown()) == {"1"}


@pytest.mark.parametrize(
    "resources",
    [
        "Nodes=gpu09 CPU_IDs=0 Mem=0 GRES=",
        "Nodes=gpu01 CPU_IDs=0 Mem=0 GRES=gpu:h100:1(CNT:1)",
        "Nodes=gpu01 CPU_IDs=0 Mem=0 GRES=gpu:h100:1(IDX:9)",
        "nothing",
    ],
)
def test_gpus_that_slurm_does_not_say_are_not_guessed(node: Node, resources: str) -> None:
    node.job(7, resources)
    node.program("scontrol", f'case "$*" in *hostnames*) echo gpu09;; *) cat {node.root}/job;; esac')
    assert node.run("write", 7, "0", "--devices", "0,1") == 0
    assert node.shown() == {}
    node.program("scontrol", "exit 1")
    assert node.run("write", 7, "0", "--devices", "0,1") == 0
    assert node.shown() == {}


WHOLE = "Type=h100 Count=1 Index=1 ID=7696487 File=/dev/nvidia1 Cores=0-95 CoreCnt=384 Links=-1,0"
SLICES = [
    f"Type=3g.40gb Count=1 Index={ci} ID=7696487 Cores=96-191 CoreCnt=384 Links=(null)"
    f" File=/dev/nvidia0,/dev/nvidia-caps/nvidia-cap{gi},/dev/nvidia-caps/nvidia-cap{ci}"
    for gi, ci in ((12, 13), (21, 22))
]


@pytest.fixture
def divided(node: Node) -> Node:
    """A node whose second GPU, /dev/nvidia0, has the instances 1 and 2."""
    node.gpu("0000:1b:00.0", minor=1)
    node.gpu("0000:9d:00.0", minor=0)
    node.slurmd(WHOLE, *SLICES)
    return node


def test_an_instance_has_a_file_of_its_own(divided: Node) -> None:
    assert divided.write(7, "1", "--instances") == 0
    assert divided.write(8, "2", "--instances") == 0
    assert divided.write(9, "0", "--instances") == 0
    assert divided.shown() == {"1.1": "7\n", "1.2": "8\n", "0": "9\n"}
    divided.run("remove", 7)
    assert divided.shown() == {"1.2": "8\n", "0": "9\n"}


def test_a_job_with_a_whole_gpu_and_an_instance_is_named_in_both(divided: Node) -> None:
    divided.job(7, "Nodes=gpu[01-02] CPU_IDs=0-3 Mem=0 GRES=gpu:h100:1(IDX:0),gpu:3g.40gb:1(IDX:2)")
    divided.run("write", 7, "0", "--instances")
    assert set(divided.shown()) == {"0", "1.2"}


def test_places_follow_the_list_of_slurmd_whatever_its_order(divided: Node) -> None:
    divided.slurmd(*reversed(SLICES), WHOLE)
    divided.write(7, "0", "--instances")
    divided.write(8, "2", "--instances")
    assert divided.shown() == {"1.2": "7\n", "0": "8\n"}


def test_a_record_may_have_several_whole_gpus(divided: Node) -> None:
    divided.slurmd("Type=h100 Count=3 Index=0 ID=1 File=/dev/nvidia[0-1,4] Links=(null)", SLICES[0])
    divided.write(7, "1-2", "--instances")
    assert set(divided.shown()) == {"0", "4"}


def test_the_slurmd_that_answers_has_nothing_of_the_one_that_runs(divided: Node) -> None:
    """It would write the machine's topology into SlurmdSpoolDir, and set up control groups."""
    divided.write(7, "1", "--instances")
    given = divided.root / "given"
    calls = (divided.root / "asked").read_text()
    (spool,) = re.findall(r"slurmd -G -N gpu01 -f (\S+)/slurm[.]conf", calls)
    assert (given / "slurm.conf").read_text() == f"ClusterName=demo\nSlurmdSpoolDir={spool}\nSlurmdLogFile=/dev/null\n"
    assert (given / "cgroup.conf").read_text() == "ConstrainDevices=yes\nCgroupPlugin=disabled\n"
    assert (given / "gres.conf").read_text() == "AutoDetect=nvml\n"
    assert not Path(spool).exists()
    assert "SlurmdSpoolDir=/var/spool/slurmd" in (divided.root / "slurm/slurm.conf").read_text()


@pytest.mark.parametrize(
    "records",
    [
        [],
        [WHOLE],
        [WHOLE, SLICES[0].replace("/dev/nvidia0,", "")],
        [WHOLE, SLICES[0].replace("/dev/nvidia0,", "/dev/nvidia3,")],
        [WHOLE, SLICES[0].replace("cap12", "cap9999").replace("cap13", "cap9998")],
        [WHOLE, SLICES[0].replace("Count=1", "Count=2")],
    ],
)
def test_an_instance_that_slurmd_does_not_say_is_not_guessed(divided: Node, records: list[str]) -> None:
    divided.slurmd(*records)
    assert divided.write(7, "1", "--instances") == 0
    assert divided.shown() == {}


def test_the_next_job_of_a_gpu_replaces_one_whose_epilog_never_ran(node: Node) -> None:
    node.write(7, "0,1")
    node.write(8, "0")
    assert node.shown() == {"0": "8\n", "1": "7\n"}


def test_tidy_removes_jobs_that_slurm_does_not_have_here(node: Node) -> None:
    node.write(7, "0")
    node.write(8, "1")
    node.squeue("echo 8; echo 9")
    assert node.run("tidy") == 0
    assert node.shown() == {"1": "8\n"}
    assert "--nodelist=gpu01" in (node.root / "asked").read_text()


def test_tidy_asks_nothing_if_no_job_is_named(node: Node) -> None:
    assert node.run("tidy") == 0
    assert not (node.root / "asked").exists()


def test_without_an_answer_nothing_is_removed(node: Node) -> None:
    node.write(7, "0")
    node.squeue("exit 1")
    assert node.run("tidy") == 1
    assert node.shown() == {"0": "7\n"}


@pytest.mark.parametrize("verb", ["write", "remove"])
def test_a_directory_that_cant_be_written_keeps_no_job_back(node: Node, verb: str) -> None:
    node.directory.parent.mkdir()
    node.directory.write_text("not a directory\n")
    assert node.run(verb, 7, "0") == 0
