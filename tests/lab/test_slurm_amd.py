# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""AMD's GPUs beside real daemons of Slurm: their device files, KFD's tree as files, and Drawbridge's own configuration.

One host has slurmctld and slurmd in namespaces of their own. With SLURM_SUITE=sid they are Debian's newest.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.node_groups import gres
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.slurm_conf import JOB_GPUS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.view import controller_files
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.view import slurm_node
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.conformance.tree import ROOT
from tests.lab.gpu_scene import MACHINE, play, put, site
from tests.lab.test_slurm_machines import OTHERS, TAKEN
from tests.slurm_daemons import Place
from tests.unit.module_utils.nodes.gpus import kfd

pytestmark = pytest.mark.live

PROGRAM = ROOT / "roles/slurm_node/files/slurm-job-gpus.py"
GPUS = {
    "vendor": "amd",
    "type": "mi300x",
    "numa": list(MACHINE.gpus),
    "minors": list(kfd.MINORS),
    "partition": {"compute": "SPX", "memory": "NPS1"},
    "shards": 2,
}
PARTS = re.compile(r"/etc/drawbridge/slurm/(prolog|epilog)[.]d/60-job-gpus")
HARDWARE = """
import json, sys
sys.path.insert(0, "/usr/local/lib/hardware")
from drawbridge.core.command import Command
from drawbridge.nodes.gpus.vendors import VENDORS
from drawbridge.slurm.nodes.hardware_io import Hardware
from drawbridge.slurm.nodes.hardware_plan import Machine, difference
given = json.load(open("/out/hardware.json"))
vendor = VENDORS[given["gpu_vendor"]]
device = Hardware(Command(30), given["name"], vendor, "", given["gpu_numbers"], given["gpu_modes"])
print(difference(device.read(), Machine(**given["machine"])))
"""
"""slurm_node_hardware without Ansible."""
SCRIPT = """
come() { for look in $(seq 3000); do if eval "$1"; then return; fi; sleep 0.1; done; echo "not so: $1"; exit 9; }
hardware() { python3 -I /out/hardware > "/out/$1" 2>&1; }
mkdir /dev/dri
mknod -m 666 /dev/kfd c 511 0
for place in $(cat /out/minors); do mknod -m 666 "/dev/dri/renderD$place" c 226 "$place"; done
export HWLOC_FSROOT=/machine
hardware whole
munged --force
slurmctld
slurmd -G -N n1 > /out/gres 2>&1
mkdir /var/spool/slurmd-n1
slurmd -N n1
come '[ "$(sinfo --noheader --Node --format=%T)" = idle ]'
for job in 0 1 2 3 4 5 6 7; do
  sbatch --mem=1 --cpus-per-task=1 --gres=gpu:mi300x:1 --output=/out/job-%j \\
    --wrap 'env; touch "/tmp/$SLURM_JOB_ID"; until [ -e /tmp/end ]; do sleep 0.1; done'
done
come '[ "$(ls /tmp | grep -c "^[0-9]*$")" = 8 ]'
cp -r /run/exporter /out/exporter
touch /tmp/end
come '! squeue --noheader | grep -q .'
ls /run/exporter > /out/left
scontrol --oneliner show node n1 > /out/node
for gres in gpu:mi300x:7 shard:1 shard:1 shard:1; do
  sbatch --mem=1 --cpus-per-task=1 --gres=$gres --output=/out/shard-%j \\
    --wrap 'env; until [ -e /tmp/over ]; do sleep 0.1; done'
done
come '[ "$(squeue --noheader --states=running | wc -l)" = 3 ]'
come 'squeue --noheader --format=%r | grep -q Resources'
touch /tmp/over
come '! squeue --noheader | grep -q .'
kill $(cat /run/slurmd-n1.pid)
rm /dev/dri/renderD136
hardware lost
# it would wait for 20 s
timeout 2 slurmd -G -N n1 > /out/waits 2>&1 || echo "exit code $?" >> /out/waits
"""
SYSTEMCTL = """#!/bin/sh
echo HWLOC_FSROOT=/machine
"""
"""All that the hardware check asks: slurmd's environment."""


@pytest.fixture(scope="module")
def out(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Outputs of the scene."""
    folder = tmp_path_factory.mktemp("scene")
    put(folder / "upper", texts(place.release))
    kfd.host(folder / "upper")
    return play(place, folder)


def texts(release: str) -> dict[str, str]:
    """Files of the host, by path."""
    intent = site(GPUS)
    files = controller_files(replace(intent.slurm, version=release), intent.nodes, False)
    view = slurm_node(intent.nodes, intent.slurm, "n1", False)
    own = [line for line in files["slurm.conf"].splitlines() if line.startswith(TAKEN)]
    (node,) = (line for line in files["slurm.conf"].splitlines() if line.startswith("NodeName="))
    scripts = {match[1]: file for file in view["slurmd"] if (match := PARTS.fullmatch(file["path"]))}
    prolog = "".join(f"{kind.capitalize()}={file['path']}\n" for kind, file in scripts.items())
    soon = "SchedulerParameters=sched_min_interval=0,batch_sched_delay=0"
    conf = "\n".join([*own, f"{node} NodeHostname=ctl Port=17001", soon, OTHERS])
    return {
        "etc/slurm/gres.conf": files["gres.conf"],
        "etc/slurm/cgroup.conf": files["cgroup.conf"],
        "etc/slurm/slurm.conf": f"{conf}PrologFlags=Alloc\n{prolog}",
        **{file["path"].lstrip("/"): file["content"] for file in scripts.values()},
        JOB_GPUS.lstrip("/"): f"#!/usr/bin/python3 -I\n{PROGRAM.read_text()}",
        "usr/bin/systemctl": SYSTEMCTL,
        "out/script": SCRIPT,
        "out/minors": " ".join(map(str, kfd.MINORS)),
        "out/hardware": HARDWARE,
        "out/hardware.json": json.dumps(view["hardware"]),
        # Debian's smallest Python lacks it
        "usr/local/lib/hardware/shlex.py": Path(shlex.__file__).read_text(),
        **{f"usr/local/lib/hardware/drawbridge/{path}": text for path, text in imported(HARDWARE, source).items()},
    }


def jobs(out: Path, kind: str = "job") -> list[dict[str, str]]:
    """The environment of each job, in the order of submission."""
    paths = sorted(out.glob(f"{kind}-*"), key=lambda path: int(path.name.partition("-")[2]))
    return [dict(re.findall(r"^(\w+)=(.*)$", path.read_text(), re.MULTILINE)) for path in paths]


def test_slurmd_finds_each_render_node_with_the_variables_of_the_vendor_alone(out: Path) -> None:
    records = re.findall(r"Gres Name=gpu .*", (out / "gres").read_text())
    counts = [int(count) for record in records for count in re.findall(r" Count=([0-9]+)", record)]
    flags = {flags for record in records for flags in re.findall(r"Flags=(\S+)", record)}
    assert (sum(counts), flags) == (8, {"HAS_FILE,HAS_TYPE,ENV_RSMI"})


def test_each_job_gets_its_own_gpu_and_no_variable_of_another_vendor(out: Path) -> None:
    found = jobs(out)
    assert sorted(job["ROCR_VISIBLE_DEVICES"] for job in found) == [str(at) for at in range(8)]
    assert {key for job in found for key in job if key.endswith(("VISIBLE_DEVICES", "DEVICE_ORDINAL"))} == {
        "ROCR_VISIBLE_DEVICES"
    }


def test_the_exporter_reads_the_job_of_each_gpu_until_the_job_ends(out: Path) -> None:
    """Of the GPU that the job has: its place in the kernel's topology."""
    mapped = {path.name: json.loads(path.read_text()) for path in (out / "exporter").iterdir()}
    has = {job["ROCR_VISIBLE_DEVICES"]: job["SLURM_JOB_ID"] for job in jobs(out)}
    assert {name: job["SLURM_JOB_ID"] for name, job in mapped.items()} == has
    assert {name: job["CUDA_VISIBLE_DEVICES"] for name, job in mapped.items()} == {name: name for name in has}
    assert (out / "left").read_text() == ""


def test_two_jobs_share_a_gpu_by_shards_and_a_third_waits(out: Path) -> None:
    shown = re.sub(r"[(]S:[0-9-]+[)]", "", (out / "node").read_text())
    assert f" Gres={gres(site(GPUS).nodes.classes['a'])} " in shown
    devices = [set(job["ROCR_VISIBLE_DEVICES"].split(",")) for job in jobs(out, "shard")]
    assert len(devices[0]) == 7 and devices[1] == devices[2] and len(devices) == 4
    assert not devices[0] & devices[1], "a whole GPU is no one's share"


def test_a_missing_render_node_is_named_and_slurmd_does_not_go_on_without_it(out: Path) -> None:
    assert (out / "whole").read_text() == "\n"
    assert (out / "lost").read_text() == "7 GPUs instead of 8, no GPU at /dev/dri/renderD136\n"
    waits = (out / "waits").read_text()
    assert "Waiting for gres.conf file /dev/dri/renderD136\n" in waits
    assert "Gres Name=gpu" not in waits and waits.endswith("exit code 124\n")
