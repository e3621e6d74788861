# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Real daemons of Slurm on the machines of tests/machines.yml: slurmctld accepts each node as Drawbridge writes it.

One slurmctld, and for each machine a slurmd whose hwloc reads that machine's /sys. They run in namespaces of their own.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.scontrol import fields
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.view import controller_files

from tests.machines import IN_MEMORY, Machine, write
from tests.slurm_daemons import STAGE, Place
from tests.unit.module_utils.machines import ALL, DESCRIBED, node_class

pytestmark = pytest.mark.live

JOB_GPUS = Path(__file__).parents[2] / "roles/slurm_node/files/slurm-job-gpus.py"
TAKEN = ("NodeSet=", "PartitionName=", "SelectType", "GresTypes", "SlurmdParameters", "ProctrackType", "TaskPlugin")
"""Lines of Drawbridge's slurm.conf that a cluster without accounting and without scripts can have, beside its nodes."""
OTHERS = """
ClusterName=demo
SlurmctldHost=ctl(10.9.9.1)
SlurmUser=root
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd-%n
SlurmdLogFile=/out/%n.log
SlurmctldLogFile=/out/slurmctld
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd-%n.pid
JobAcctGatherType=jobacct_gather/none
MailProg=/bin/true
MpiDefault=none
"""
SCENE = f"""{STAGE}
mount --bind "$MACHINES" "$R/machines"
for minor in $(seq 0 15); do mknod -m 666 "$R/dev/nvidia$minor" c 195 "$minor"; done
hostname ctl
echo '10.9.9.1 ctl' > "$R/etc/hosts"
mkdir -p "$R/var/spool/slurmctld"
chroot "$R" sh -ec '
munged --force
slurmctld
for node in $(cat /out/names); do
  mkdir "/var/spool/slurmd-$node"
  HWLOC_FSROOT=/machines/$node slurmd -N "$node"
done
for look in $(seq 3000); do
  scontrol --oneliner show node > /out/nodes
  grep -q "State=UNKNOWN \\|State=[A-Z]*[*]" /out/nodes || break
  sleep 0.2
done
'"$COMMANDS"
"""


@pytest.fixture(scope="module")
def machines() -> Iterator[Path]:
    """The files of all machines."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        for name in DESCRIBED:
            write(ALL[name], Path(folder) / name.replace("_", "-"), hwloc=True)
        yield Path(folder)


@pytest.fixture(scope="module")
def place(place: Place, machines: Path) -> Place:
    """The lab's Slurm, with the files of all machines."""
    return replace(place, environment={**place.environment, "MACHINES": str(machines)})


@dataclass(frozen=True)
class Cluster:
    """A cluster: its nodes as slurmctld shows them, and the folder with its logs."""

    nodes: dict[str, dict[str, str]]
    out: Path

    def log(self, name: str) -> str:
        """What the slurmd of a machine says."""
        return (self.out / f"{name.replace('_', '-')}.log").read_text()


def cluster(
    place: Place, scene: Path, machines: Mapping[str, Machine], commands: str = "", change: Callable[[str], str] = str
) -> Cluster:
    """Start the daemons, with gres.conf changed, run commands on the controller, and look."""
    for name in ("root", "work", "upper/out", "upper/etc/slurm", "upper/machines"):
        (scene / name).mkdir(parents=True)
    nodes = {name.replace("_", "-"): machine for name, machine in machines.items()}
    files = written(nodes, place.release)
    (scene / "upper/etc/slurm/gres.conf").write_text(change(files["gres.conf"]))
    for name in ("cgroup.conf", "slurm.conf"):
        (scene / "upper/etc/slurm" / name).write_text(files[name])
    (scene / "upper/etc/slurm/prolog").write_text(PROLOG)
    (scene / "upper/etc/slurm/prolog").chmod(0o755)
    (scene / "upper/out/slurm-job-gpus").write_text(JOB_GPUS.read_text())
    (scene / "upper/out/names").write_text("\n".join(nodes))
    place.run(SCENE, SCENE=scene, COMMANDS=commands or "true")
    out = scene / "upper/out"
    shown = [fields(line) for line in (out / "nodes").read_text().splitlines()]
    return Cluster({one["NodeName"].replace("-", "_"): one for one in shown}, out)


PROLOG = """#!/bin/sh
exec python3 /out/slurm-job-gpus --directory /out/jobs --driver "/machines/$SLURMD_NODENAME/proc/driver/nvidia" \\
  --devices 2,3,0,1,6,7,4,5 write
"""


def written(machines: Mapping[str, Machine], release: str) -> dict[str, str]:
    """Drawbridge's files for these nodes, on one host, without scripts and accounting."""
    (parameters,) = {machine.slurmd for machine in machines.values()}
    # the memory is that of this host
    small = {"memory_mib": 2048, "reserved_memory_mib": 1024}
    slurm: dict[str, Any] = {
        "cluster": "demo",
        "controller": "ctl",
        "packages": "site",
        "version": release,
        "topology": "none",
    }
    slurm["settings"] = {"SlurmdParameters": parameters} if parameters else {}
    slurm["partitions"] = [{"name": "batch", "nodes": ",".join(machines)}]
    described = {
        "os": "debian-13",
        "classes": {f"{node}-class": node_class(machine, **small) for node, machine in machines.items()},
        "ranges": [{"names": node, "node_class": f"{node}-class"} for node in machines],
    }
    site = load({"drawbridge_nodes": described, "drawbridge_slurm": slurm})
    files = controller_files(site.slurm, site.nodes, False)
    lines = files["slurm.conf"].splitlines()
    own = [line for line in lines if line.startswith("NodeName=")]
    ports = [f"{line} NodeHostname=ctl Port={17001 + at}" for at, line in enumerate(own)]
    conf = "\n".join([*(line for line in lines if line.startswith(TAKEN)), *ports, OTHERS])
    return {**files, "slurm.conf": f"{conf}PrologFlags=Alloc\nProlog=/etc/slurm/prolog\n"}


@pytest.mark.parametrize("parameters", ["", "numa_node_as_socket", "l3cache_as_socket"])
def test_slurm_accepts_each_machine_and_reserves_the_cpus_that_the_intent_names(
    place: Place, tmp_path: Path, parameters: str
) -> None:
    """Whatever slurmd counts as a socket."""
    without = {name for name in DESCRIBED if parameters.startswith("l3") and not ALL[name].described["l3_caches"]}
    machines = {name: replace(ALL[name], slurmd=parameters) for name in DESCRIBED if name not in without}
    found = cluster(place, tmp_path, machines)
    states = {name: (node["State"], node.get("Reason", "")) for name, node in found.nodes.items()}
    assert states == dict.fromkeys(machines, ("IDLE", ""))
    for name, machine in machines.items():
        assert re.findall(r"Reserved machine CPU IDs: (\S+)", found.log(name)) == [machine.machine_cpus], name
        gpus = re.findall(r"gpu:h100:([0-9]+)", found.nodes[name]["Gres"])
        assert sum(map(int, gpus)) == len(machine.gpus), name
        # slurmd says so of a machine whose cores are CPUs
        assert ("configuration differs from hardware" in found.log(name)) == (machine.slurm_cpu == "core"), name


def test_slurm_drains_a_node_with_cores_of_a_part_of_a_socket(place: Place, tmp_path: Path) -> None:
    """What the rule is there for, and that the test above can see it."""
    node = cluster(
        place, tmp_path, {"dgx_a100": ALL["dgx_a100"]}, change=lambda text: text.replace("Cores=0-63", "Cores=48-63")
    ).nodes
    assert "DRAIN" in node["dgx_a100"]["State"]
    assert "doesn't match socket boundaries" in node["dgx_a100"]["Reason"]


def test_a_job_is_named_in_the_files_of_its_own_gpus(place: Place, tmp_path: Path) -> None:
    """Its first GPUs in gres.conf are /dev/nvidia2, 3 and 0, which the driver lists first, second and third."""
    job = "sbatch --wait --partition=batch --gres=gpu:h100:3 --output=/out/job --wrap 'env | grep ^SLURM_JOB_GPUS'"
    found = cluster(place, tmp_path, {"dgx_a100": ALL["dgx_a100"]}, commands=job)
    assert (found.out / "job").read_text() == "SLURM_JOB_GPUS=0,1,2\n"
    assert sorted(path.name for path in (found.out / "jobs").iterdir()) == ["0", "1", "2"]
