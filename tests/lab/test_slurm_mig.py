# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Instances of GPUs (MIG) beside real daemons of Slurm: NVIDIA's own nvidia-mig-parted divides emulated GPUs.

One host has slurmctld and slurmd in namespaces of their own, with Drawbridge's configuration. Slurm's plugin and
nvidia-mig-parted load the emulated NVML as the driver's library. With SLURM_SUITE=sid the daemons are Debian's newest.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.nvidia_mig_tools import (
    configuration,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.node_groups import gres
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.slurm_conf import SCRIPTS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.view import controller_files
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.text import node
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.view import slurm_node

from lab.emulators.nvml import build as library
from lab.emulators.nvml.state import H100, Gpu, State, parsed, proc, text
from lab.hosts.paths import Paths
from lab.tools import build as tools
from tests.conformance.tree import ROOT
from tests.lab.gpu_scene import play, put, site
from tests.lab.test_slurm_machines import OTHERS, TAKEN
from tests.slurm_daemons import Place, package

pytestmark = pytest.mark.live

PROGRAMS = ("slurm-job-gpus", "slurm-dispatch")
PLUGIN = "slurm-wlm-nvml-plugin"
MINORS = (1, 0)
"""The whole GPU, index 0, is /dev/nvidia1."""
GPUS = {
    "type": "h100",
    "numa": [0, 1],
    "minors": list(MINORS),
    "product": H100,
    "mig": {"layout": {"3g.40gb": 2}, "exceptions": [{"gpus": [0], "layout": {}}]},
}
HARDWARE = State(
    [
        Gpu(MINORS[0], "00000000:1B:00.0", "GPU-00000000-0000-0000-0000-000000000000", "0-95,192-287"),
        Gpu(MINORS[1], "00000000:9D:00.0", "GPU-00000000-0000-0000-0000-000000000001", "96-191,288-383"),
    ]
)
SCRIPT_FILES = re.compile(rf"{SCRIPTS}/slurm-(prolog|epilog)|/etc/drawbridge/slurm/(prolog|epilog)[.]d/60-job-gpus")
SCRIPT = r"""
come() { for look in $(seq 3000); do if eval "$1"; then return; fi; sleep 0.1; done; echo "not so: $1"; exit 9; }
parted() { echo "\$ $*"; nvidia-mig-parted "$@" 2>&1 || echo "exit code $?"; }
spool() { find /var/spool/slurmd-n1 -name 'hwloc_topo_whole.xml' -o -path '*/conf-cache/*' | sort | xargs md5sum; }
start() { HWLOC_FSROOT=/machine slurmd -N n1 --conf-server ctl; }
dpkg-deb -x /out/plugin.deb /
mkdir /run/emulated-nvml
cp /out/state /run/emulated-nvml
mount -t tmpfs tmpfs /proc/driver
cp -r /out/driver/. /proc/driver
for minor in 0 1; do mknod -m 666 "/dev/nvidia$minor" c 195 "$minor"; done
{
  parted assert -f /out/layout -c drawbridge
  parted apply -f /out/layout -c drawbridge
  parted assert -f /out/layout -c drawbridge
  parted export
} > /out/parted
cp /run/emulated-nvml/state /out/divided
munged --force
slurmctld -f /etc/controller/slurm.conf
mkdir /var/spool/slurmd-n1
HWLOC_FSROOT=/machine slurmd -G -N n1 --conf-server ctl > /out/gres 2>&1
start
come '[ "$(sinfo --noheader --Node --format=%T)" = idle ]'
spool > /out/spool
scontrol --oneliner show node n1 > /out/node
wait='env; touch "/tmp/$SLURM_JOB_ID"; until [ -e "/tmp/end$ROUND" ]; do sleep 0.1; done'
give() { ROUND="$1" sbatch --mem=1 --cpus-per-task=1 --gres="$2" --output=/out/job-%j --wrap "$wait"; }
for wanted in gpu:3g.40gb:1 gpu:3g.40gb:1 gpu:h100:1 gpu:3g.40gb:1; do give 1 "$wanted"; done
come '[ "$(ls /tmp | grep -c "^[0-9]*$")" = 3 ]'
squeue --noheader --states=PENDING --format='%A %r' > /out/pending
scancel 4
cp -r /run/drawbridge/job-mapping /out/first
touch /tmp/end1
come '! squeue --noheader | grep -q .'
ls /run/drawbridge/job-mapping > /out/left
give 2 gpu:3g.40gb:1,gpu:h100:1
come '[ -e /tmp/5 ]'
cp -r /run/drawbridge/job-mapping /out/both
spool > /out/spool-later
cp /out/n1.log /out/log
touch /tmp/end2
come '! squeue --noheader | grep -q .'
kill $(cat /run/slurmd-n1.pid)
come '[ ! -e /run/slurmd-n1.pid ]'
echo 'fault 1 vanish' >> /run/emulated-nvml/state
start
come 'scontrol --oneliner show node n1 | grep -q INVAL'
scontrol --oneliner show node n1 > /out/vanished
"""


@pytest.fixture(scope="module")
def out(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Outputs of the scene."""
    folder = tmp_path_factory.mktemp("scene")
    put(folder / "upper", texts(place.release))
    for path, source in programs(place).items():
        (folder / "upper" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, folder / "upper" / path)
    (folder / "upper/sys/bus/pci/devices").mkdir(parents=True)
    return play(place, folder)


def programs(place: Place) -> dict[str, Path]:
    """Files that others built, by path on the host."""
    cache = Paths.of().cache
    parted = tools.ensure(cache, print, [tools.MIG_PARTED])["nvidia-mig-parted"]
    return {
        "out/plugin.deb": package(place, PLUGIN, "contrib"),
        f"usr/lib/x86_64-linux-gnu/{library.LIBRARY}": library.ensure(cache),
        "usr/bin/nvidia-mig-parted": library.HERE / "nvidia-mig-parted",
        "usr/lib/nvidia-mig-parted/nvidia-mig-parted": parted,
    }


def texts(release: str) -> dict[str, str]:
    """Files of the host, by path."""
    intent = site(GPUS)
    files = controller_files(replace(intent.slurm, version=release), intent.nodes, False)
    view = slurm_node(intent.nodes, intent.slurm, "n1", False)
    own = [line for line in files["slurm.conf"].splitlines() if line.startswith(TAKEN)]
    (line,) = (line for line in files["slurm.conf"].splitlines() if line.startswith("NodeName="))
    scripts = {file["path"]: file["content"] for file in view["slurmd"] if SCRIPT_FILES.fullmatch(file["path"])}
    prolog = "".join(f"{kind.capitalize()}={SCRIPTS}/slurm-{kind}\n" for kind in ("prolog", "epilog"))
    soon = "SchedulerParameters=sched_min_interval=0,batch_sched_delay=0"
    conf = "\n".join([*own, f"{line} NodeHostname=ctl Port=17001", soon, OTHERS])
    gpus = intent.nodes.class_of("n1").gpus
    return {
        "etc/controller/gres.conf": files["gres.conf"],
        "etc/controller/cgroup.conf": files["cgroup.conf"],
        "etc/controller/slurm.conf": f"{conf}SlurmctldParameters=enable_configless\nPrologFlags=Alloc\n{prolog}",
        **{path.lstrip("/"): content for path, content in scripts.items()},
        **{f"{SCRIPTS}/{name}".lstrip("/"): program(name) for name in PROGRAMS},
        "out/script": SCRIPT,
        "out/layout": configuration(gpus.layouts),
        "out/state": text(HARDWARE),
        **{f"out/driver/{path}": content for path, content in proc(HARDWARE.gpus).items()},
    }


def program(name: str) -> str:
    """A program of the nodes."""
    return f"#!/usr/bin/python3 -I\n{(ROOT / 'roles/slurm_node/files' / f'{name}.py').read_text()}"


def jobs(out: Path) -> dict[str, dict[str, str]]:
    """The environment of each job, by its number."""
    return {
        path.name[len("job-") :]: dict(re.findall(r"^(\w+)=(.*)$", path.read_text(), re.MULTILINE))
        for path in out.glob("job-*")
    }


def names(out: Path) -> dict[str, str]:
    """What DCGM's exporter calls each device, by what CUDA calls it. Slurm 26.05 gives a whole GPU by its UUID."""
    state = parsed((out / "divided").read_text())
    return {"0": "0", state.gpus[0].uuid: "0", **{it.uuid: f"{it.gpu}.{it.instance}" for it in state.computes}}


def mapped(out: Path, name: str) -> dict[str, str]:
    """The job of each device for the exporter."""
    return {path.name: path.read_text().strip() for path in (out / name).iterdir()}


PARTED = """$ assert -f /out/layout -c drawbridge
time="" level=fatal msg="Assertion failure: selected configuration not currently applied"
exit code 1
$ apply -f /out/layout -c drawbridge
MIG configuration applied successfully
$ assert -f /out/layout -c drawbridge
Selected MIG configuration currently applied
$ export
version: v1
mig-configs:
  current:
  - devices: [0]
    mig-enabled: false
    mig-devices: {}
  - devices: [1]
    mig-enabled: true
    mig-devices:
      3g.40gb: 2
"""


def test_the_vendors_own_program_divides_the_gpus(out: Path) -> None:
    assert re.sub(r'time="[^"]*"', 'time=""', (out / "parted").read_text()) == PARTED


def test_slurmd_finds_what_slurm_conf_has_and_the_node_is_idle(out: Path) -> None:
    found = re.findall(r"Gres Name=gpu Type=(\S+) Count=1 .* Flags=\S*(ENV_\w+)", (out / "gres").read_text())
    assert found == [(name, "ENV_NVML") for name in ("h100", "3g.40gb", "3g.40gb")]
    shown = node((out / "node").read_text())
    assert (shown.state, shown.flags) == ("IDLE", frozenset())
    assert shown.gres == gres(site(GPUS).nodes.class_of("n1")) == "gpu:h100:1,gpu:3g.40gb:2"


def test_each_job_gets_its_own_device_with_the_variables_of_the_vendor_alone(out: Path) -> None:
    found = jobs(out)
    has = [names(out)[found[job]["CUDA_VISIBLE_DEVICES"]] for job in ("1", "2", "3")]
    assert sorted(has) == ["0", "1.1", "1.2"] and has[2] == "0"
    assert {key for job in found.values() for key in job if key.endswith(("VISIBLE_DEVICES", "ORDINAL", "MASK"))} == {
        "CUDA_VISIBLE_DEVICES"
    }


def test_a_job_waits_while_all_instances_have_jobs(out: Path) -> None:
    assert (out / "pending").read_text() == "4 Resources\n"


def test_the_exporter_reads_the_job_of_each_instance_until_the_job_ends(out: Path) -> None:
    has = {names(out)[job["CUDA_VISIBLE_DEVICES"]]: number for number, job in jobs(out).items() if number in "123"}
    assert mapped(out, "first") == has
    assert (out / "left").read_text() == ""


def test_a_job_with_a_whole_gpu_and_an_instance_is_named_in_both(out: Path) -> None:
    devices = jobs(out)["5"]["CUDA_VISIBLE_DEVICES"].split(",")
    assert len(devices) == 2
    assert mapped(out, "both") == {names(out)[device]: "5" for device in devices}


def test_the_slurmd_that_runs_notices_nothing_of_its_prologs_question(out: Path) -> None:
    before = (out / "spool").read_text()
    assert before and (out / "spool-later").read_text() == before
    assert "local config file" not in (out / "log").read_text()


def test_a_node_whose_instances_vanished_gets_no_jobs(out: Path) -> None:
    shown = node((out / "vanished").read_text())
    assert (shown.state, shown.flags) == ("IDLE", frozenset({"DRAIN", "INVALID_REG"}))
    assert shown.reason.startswith("gres/gpu count reported lower than configured (1 < 3)")
