# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One host with this machine's GPUs: slurmctld and slurmd in namespaces of their own, configured by Drawbridge."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.model import Intent
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.view import controller_files
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.view import slurm_node
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.gpu.confinement import Confinement
from tests.gpu.proposed import NODE
from tests.lab.gpu_scene import put
from tests.lab.test_slurm_machines import OTHERS, TAKEN
from tests.slurm_daemons import STAGE, Place

HARDWARE = """
import json, sys
sys.path.insert(0, "/usr/local/lib/hardware")
from drawbridge.core.command import Command
from drawbridge.nodes.gpus.vendors import VENDORS
from drawbridge.slurm.nodes.hardware_io import Hardware
from drawbridge.slurm.nodes.hardware_plan import Machine, difference
for given in json.load(open("/out/hardware.json")):
    device = Hardware(Command(60), given["name"], VENDORS[given["gpu_vendor"]])
    print(difference(device.read(), Machine(**given["machine"])))
"""
"""slurm_node_hardware without Ansible: a line for each node class of the file."""
SYSTEMCTL = "#!/bin/sh\necho\n"
"""All that the hardware check asks: slurmd's environment."""
JOB = """
import json, os, subprocess
def opens(path):
    try:
        os.close(os.open(path, os.O_RDWR))
    except OSError as err:
        return err.strerror
    return "opened"
names = sorted(name for name in os.listdir("/dev") if name[:6] == "nvidia" and name[6:].isdigit())
listed = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True)
print(json.dumps({
    "files": {f"/dev/{name}": opens(f"/dev/{name}") for name in names},
    "listed": listed.stdout + listed.stderr,
    "environment": {key: value for key, value in os.environ.items() if key.endswith("VISIBLE_DEVICES")},
}))
"""
SCENE = f"""{STAGE}
hostname ctl
echo '10.9.9.1 ctl' > "$R/etc/hosts"
mkdir -p "$R/var/spool/slurmctld" "$R/sys" "$R/mnt"
cp -a /dev/nvidia* "$R/dev/"
mount -t sysfs -o ro sysfs "$R/sys"
"""
SCRIPT = r"""
come() {
  for look in $(seq 1200); do if eval "$1"; then return; fi; sleep 0.1; done
  echo "not so: $1"; tail -n 40 /out/*.log /out/slurmctld; exit 9
}
job() {
  name="$1"; shift
  sbatch --quiet --wait --mem=1 --cpus-per-task=1 --output="/out/job-$name" "$@" --wrap 'exec python3 -I /out/job' ||
    { echo "job $name failed"; cat "/out/job-$name"; exit 9; }
}
python3 -I /out/hardware > /out/differences 2>&1
munged --force
slurmctld
mkdir "/var/spool/slurmd-$NODE"
slurmd -G -N "$NODE" > /out/gres 2>&1
slurmd -N "$NODE"
come '[ "$(sinfo --noheader --Node --format=%T)" = idle ]'
scontrol --oneliner show node "$NODE" > /out/node
job none
job one "--gres=gpu:$TYPE:1"
job all "--gres=gpu:$TYPE:$COUNT"
sbatch --quiet --mem=1 --cpus-per-task=1 "--gres=gpu:$TYPE:$COUNT" --output=/dev/null \
  --wrap 'touch /tmp/begun; until [ -e /tmp/end ]; do sleep 0.1; done'
come '[ -e /tmp/begun ]'
sbatch --quiet --mem=1 --cpus-per-task=1 "--gres=gpu:$TYPE:1" --output=/dev/null --wrap true
come 'squeue --noheader --states=pending --format=%r | grep -q Resources'
squeue --noheader --format='%T %r' > /out/queue
touch /tmp/end
come '! squeue --noheader | grep -q .'
"""


def texts(own: Intent, claimed: Intent, confined: Confinement) -> dict[str, str]:
    """Files of the host, by path. The hardware check compares it with both intents."""
    cgroups = not confined.unconfined
    files = controller_files(own.slurm, own.nodes, cgroups)
    lines = files["slurm.conf"].splitlines()
    (node,) = (line for line in lines if line.startswith("NodeName="))
    taken = [line for line in lines if line.startswith(TAKEN)]
    soon = "SchedulerParameters=sched_min_interval=0,batch_sched_delay=0"
    conf = "\n".join([*taken, f"{node} NodeHostname=ctl Port=17001", soon, OTHERS])
    # the other limits need controllers that not every machine hands down
    devices = [line for line in files["cgroup.conf"].splitlines() if "Devices" in line or not cgroups]
    hardware = [slurm_node(it.nodes, it.slurm, NODE, cgroups)["hardware"] for it in (own, claimed)]
    return {
        "etc/slurm/gres.conf": files["gres.conf"],
        "etc/slurm/cgroup.conf": "".join(f"{line}\n" for line in (*devices, *confined.lines)),
        "etc/slurm/slurm.conf": f"{conf}PrologFlags=Alloc\n",
        "usr/bin/systemctl": SYSTEMCTL,
        "out/script": SCRIPT,
        "out/job": JOB,
        "out/hardware": HARDWARE,
        "out/hardware.json": json.dumps(hardware),
        # Debian's smallest Python lacks it
        "usr/local/lib/hardware/shlex.py": Path(shlex.__file__).read_text(),
        **{f"usr/local/lib/hardware/drawbridge/{path}": text for path, text in imported(HARDWARE, source).items()},
    }


def play(
    place: Place, folder: Path, files: Mapping[str, str], driver: Mapping[str, Path], confined: Confinement, own: Intent
) -> Path:
    """Run the daemons and jobs on a host with these files and those of the driver; its outputs."""
    put(folder / "upper", files)
    for path, origin in driver.items():
        (folder / "upper" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(origin, folder / "upper" / path)
    for name in ("root", "work"):
        (folder / name).mkdir()
    gpus = own.nodes.class_of(NODE).gpus
    words: dict[str, Any] = {"NODE": NODE, "TYPE": gpus.type, "COUNT": gpus.count}
    try:
        place.run(f"{SCENE}{confined.enter}", SCENE=folder, **words)
    finally:
        confined.remove()
    return folder / "upper/out"
