# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The job of each GPU, for the metrics of the vendor's exporter: slurm-job-gpus [OPTIONS] write|remove|tidy.

DCGM's exporter reads a directory (DCGM_HPC_JOB_MAPPING_DIR) with one file for each GPU: its name is the GPU's index,
its lines are job numbers. A GPU instance (MIG) has a file INDEX.INSTANCE. Other names are ignored.

With --vendor amd, the files are those of AMD's exporter. The name is the GPU's place in the kernel's topology (KFD),
the content one JSON object. The exporter drops a file that it reads half-written.

Prolog runs `write`, Epilog runs `remove`. Slurm counts a node's GPUs by their places in gres.conf; `--devices` has the
numbers of the device files in that order. With several types of GPUs, SLURM_JOB_GPUS has only the last type's, so
`write` reads the job's GPUs from slurmctld. In Epilog slurmctld does not show them any more.

With --instances slurmd detects GPUs and instances, and their places are those in the list of `slurmd -G`. It would
write into the directories and control groups of the slurmd that runs, so it gets a configuration with others.

Slurm gives a GPU to one job at a time, so `write` replaces the file of a job whose epilog never ran. The health check
runs `tidy`, which removes the files of all jobs that Slurm does not have here. The directory is in /run, so a boot
empties it. Files are replaced, the directory never: the exporter's pod mounts it.

Metrics keep no job from its start or end: a failure of `write` or `remove` is logged, and their exit code is 0.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import syslog
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

STATES = "RUNNING,CONFIGURING,COMPLETING,SUSPENDED,STOPPED"
ANSWER_S = 8.0
HERE = re.compile(r"\bNodes=(\S+) CPU_IDs=\S* Mem=\S* GRES=(\S*)")
GPUS = re.compile(r"(?:^|,)gpu(?::[^:,(]+)?:[0-9]+\(IDX:([0-9,-]+)\)")
"""The GPUs of one type, in a job's generic resources on a node."""
RECORD = re.compile(r"\bGres Name=gpu\b.*? Count=([0-9]+) .*?\bFile=(\S+)")
"""GPUs that slurmd has found: their number and their device files."""
GPU_FILE, CAPABILITY_FILE = re.compile(r"/dev/nvidia([0-9]+)"), re.compile(r"/dev/nvidia-caps/nvidia-cap([0-9]+)")
OWN_KEYS = re.compile(r"\s*(SlurmdSpoolDir|SlurmdLogFile|SlurmdPidFile|CgroupPlugin)\s*=", re.IGNORECASE)
"""Lines of the configuration with what belongs to the slurmd that runs."""


class Unknown(Exception):
    """Slurm does not say which GPUs a job has."""


def asked(*argv: str, errors: int = subprocess.PIPE) -> str:
    """What one of Slurm's programs answers."""
    return subprocess.check_output(argv, stdin=subprocess.DEVNULL, stderr=errors, text=True, timeout=ANSWER_S)


def places(job: str, node: str) -> list[int]:
    """Places of the job's GPUs in this node's gres.conf. Raises Unknown."""
    # an array's last job and the first of a heterogeneous one have the others' number as well
    lines = asked("scontrol", "--oneliner", "--details", "show", "job", job).splitlines()
    (shown,) = [line for line in lines if line.startswith(f"JobId={job} ")] or [""]
    for nodes, resources in HERE.findall(shown):
        if node == nodes or node in asked("scontrol", "show", "hostnames", nodes).split():
            if resources.count("gpu:") != len(found := GPUS.findall(resources)):
                raise Unknown(f"slurmctld shows {resources} of job {job}")
            return [place for part in ",".join(found).split(",") if part for place in span(part)]
    raise Unknown(f"slurmctld shows no resources of job {job} on {node}")


def span(part: str) -> range:
    """The numbers of a part such as 0-2."""
    first, _dash, last = part.partition("-")
    return range(int(first), int(last or first) + 1)


def devices(job: str, node: str, listed: str) -> list[str]:
    """Numbers of the device files of the job's GPUs. Raises Unknown."""
    numbers, found = listed.split(","), places(job, node)
    if listed and found and max(found) >= len(numbers):
        raise Unknown(f"job {job} has GPU {max(found)} of {len(numbers)}")
    return [numbers[place] if listed else str(place) for place in found]


def detected(node: str) -> list[list[str]]:
    """Device files of each GPU and instance, in Slurm's order. Raises Unknown."""
    with tempfile.TemporaryDirectory(prefix="slurm-job-gpus.") as folder:
        conf = apart(Path(os.environ["SLURM_CONF"]), Path(folder))
        told = asked("slurmd", "-G", "-N", node, "-f", str(conf), errors=subprocess.STDOUT)
    return [device for count, files in RECORD.findall(told) for device in each(int(count), files)]


def apart(conf: Path, folder: Path) -> Path:
    """The same configuration for a slurmd that does not touch what belongs to the one that runs."""
    for file in conf.parent.iterdir():
        (folder / file.name).symlink_to(file)
    own = {conf.name: f"SlurmdSpoolDir={folder}\nSlurmdLogFile=/dev/null\n", "cgroup.conf": "CgroupPlugin=disabled\n"}
    for name, lines in own.items():
        text = file.read_text() if (file := conf.parent / name).exists() else ""
        kept = "".join(f"{line}\n" for line in text.splitlines() if not OWN_KEYS.match(line))
        (folder / name).unlink(missing_ok=True)
        (folder / name).write_text(f"{kept}{lines}")
    return folder / conf.name


def each(count: int, files: str) -> list[list[str]]:
    """Device files of each GPU of a record: an instance has several, and a record may have several GPUs."""
    names = [name for part in re.findall(r"[^,[]+(?:\[[^]]*\])?", files) for name in expanded(part)]
    if count == 1:
        return [names]
    if count != len(names):
        raise Unknown(f"slurmd has {count} GPUs with the files {files}")
    return [[name] for name in names]


def expanded(part: str) -> list[str]:
    """The names of a part such as /dev/nvidia[0-1,3]."""
    start, bracket, numbers = part.rstrip("]").partition("[")
    return [f"{start}{at}" for those in numbers.split(",") for at in span(those)] if bracket else [start]


def instances(job: str, node: str, driver: Path) -> list[str]:
    """Names of the files of the job's GPUs and instances. Raises Unknown."""
    known, found = detected(node), places(job, node)
    if found and max(found) >= len(known):
        raise Unknown(f"job {job} has GPU {max(found)} of {len(known)}")
    capabilities = minors(driver) if found else {}
    return [instance(known[place], indices(driver), capabilities) for place in found]


def instance(files: list[str], known: dict[str, str], capabilities: dict[str, str]) -> str:
    """INDEX of a whole GPU or INDEX.INSTANCE, by its device files. Raises Unknown."""
    gpus = [found[1] for file in files if (found := GPU_FILE.fullmatch(file))]
    caps = [capabilities.get(found[1], "") for file in files if (found := CAPABILITY_FILE.fullmatch(file))]
    numbers = {found[1] for path in caps if (found := re.match(rf"gpu{gpus[0] if gpus else ''}/gi([0-9]+)/", path))}
    if len(gpus) != 1 or len(numbers) != bool(caps):
        raise Unknown(f"slurmd has a GPU with the files {','.join(files)}")
    index = known.get(gpus[0], gpus[0])
    return f"{index}.{numbers.pop()}" if numbers else index


def minors(driver: Path) -> dict[str, str]:
    """What each device file of a capability is about, by its number, such as gpu0/gi1/access."""
    lines = (driver.parent / "nvidia-caps/mig-minors").read_text().splitlines()
    return {number: path for path, _blank, number in (line.partition(" ") for line in lines)}


def indices(driver: Path) -> dict[str, str]:
    """The driver's index of each device file /dev/nvidiaN, by N: the GPU's place in the order of PCI addresses."""
    folders = sorted((driver / "gpus").iterdir()) if (driver / "gpus").is_dir() else []
    return {minor(folder): str(index) for index, folder in enumerate(folders)}


def minor(folder: Path) -> str:
    """The number of a GPU's device file."""
    pairs = (line.partition(":") for line in (folder / "information").read_text().splitlines())
    return next(value.strip() for key, _unused, value in pairs if key == "Device Minor")


def names(gpus: list[str], driver: Path) -> Iterator[str]:
    """Names of the files of the GPUs with these device files. Without a driver, the numbers are the same."""
    known = indices(driver)
    yield from (known.get(gpu, gpu) for gpu in gpus)


def kernels_names(gpus: list[str], topology: Path) -> Iterator[str]:
    """Names of the files of the GPUs with these render nodes: places among the GPUs of the topology. Raises Unknown."""
    nodes = sorted((int(node.name), node) for node in (topology / "nodes").glob("[0-9]*"))
    rows = (line.split() for _unused, node in nodes for line in (node / "properties").read_text().splitlines())
    minors = [row[1] for row in rows if row[:1] == ["drm_render_minor"] and row[1:] != ["0"]]
    for gpu in gpus:
        if gpu not in minors:
            raise Unknown(f"the kernel lists no GPU with render node {gpu}")
        yield str(minors.index(gpu))


def number(job: str, _name: str) -> str:
    """The content of a file for DCGM's exporter."""
    return job


def record(job: str, name: str) -> str:
    """The content of a file for AMD's exporter, which joins GPUs by the last key alone."""
    keys = ("SLURM_JOB_USER", "SLURM_JOB_PARTITION", "SLURM_CLUSTER_NAME", "SLURM_JOB_GPUS", "SLURM_SCRIPT_CONTEXT")
    known = {key: os.environ.get(key, "") for key in keys}
    return json.dumps({"SLURM_JOB_ID": job, **known, "CUDA_VISIBLE_DEVICES": name})


def recorded(text: str) -> str:
    """The job of such a content; empty for another text."""
    try:
        return str(json.loads(text)["SLURM_JOB_ID"])
    except (ValueError, KeyError, TypeError):
        return ""


class Form(NamedTuple):
    """What a vendor's exporter reads."""

    directory: Path
    driver: Path
    """Where the driver lists GPUs."""
    names: Callable[[list[str], Path], Iterator[str]]
    content: Callable[[str, str], str]
    """Of the file of a job with this name."""
    job: Callable[[str], str]
    """The job of a content."""


FORMS = {
    "nvidia": Form(Path("/run/drawbridge/job-mapping"), Path("/proc/driver/nvidia"), names, number, str.strip),
    "amd": Form(Path("/run/exporter"), Path("/sys/class/kfd/kfd/topology"), kernels_names, record, recorded),
}


def write(form: Form, job: str, names: list[str]) -> None:
    """Name the job in these files, one for each of its GPUs. Each is complete when it appears."""
    form.directory.mkdir(mode=0o755, parents=True, exist_ok=True)
    for name in names:
        partial = form.directory / f".{name}.partial"
        partial.write_text(f"{form.content(job, name)}\n")
        partial.chmod(0o644)
        partial.rename(form.directory / name)


def jobs(form: Form) -> dict[Path, str]:
    """The job in each file that names one."""
    found = {}
    for file in form.directory.glob("[0-9]*") if form.directory.is_dir() else ():
        with contextlib.suppress(FileNotFoundError):  # another job's epilog removes its own
            found[file] = form.job(file.read_text())
    return {file: job for file, job in found.items() if job}


def remove(form: Form, job: str) -> None:
    """Remove the files that name the job, whatever GPUs Slurm says it had."""
    for file, named in jobs(form).items():
        if named == job:
            file.unlink(missing_ok=True)


def tidy(form: Form, node: str) -> None:
    """Remove the files of jobs that are not on this node. Files are read first, so a job that starts now stays."""
    found = set(jobs(form).values())
    if not found:
        return
    told = asked("squeue", "--noheader", f"--nodelist={node}", f"--states={STATES}", "--format=%A")
    for job in sorted(found - set(told.split())):
        remove(form, job)
        syslog.syslog(syslog.LOG_NOTICE, f"job {job} is over: its GPUs have no job in the metrics now")


def written(form: Form, options: argparse.Namespace) -> list[str]:
    """Names of the files of the job's GPUs. Raises Unknown."""
    job, node = os.environ["SLURM_JOB_ID"], os.environ["SLURMD_NODENAME"]
    if options.instances:
        return instances(job, node, form.driver)
    return list(form.names(devices(job, node, options.devices), form.driver))


def main() -> int:
    """Run one verb."""
    parser = argparse.ArgumentParser(prog="slurm-job-gpus")
    parser.add_argument("--vendor", choices=tuple(FORMS), default="nvidia", help="of the GPUs")
    parser.add_argument("--directory", type=Path, metavar="DIRECTORY", help="of the exporter")
    parser.add_argument("--driver", type=Path, metavar="DIRECTORY", help="where the driver lists GPUs")
    parser.add_argument("--devices", default="", metavar="NUMBERS", help="of device files, in the order of gres.conf")
    parser.add_argument("--instances", action="store_true", help="slurmd detects GPUs and instances (MIG)")
    parser.add_argument("verb", choices=("write", "remove", "tidy"))
    options = parser.parse_args()
    env, form = os.environ, FORMS[options.vendor]
    form = form._replace(directory=options.directory or form.directory, driver=options.driver or form.driver)
    syslog.openlog("slurm-job-gpus", syslog.LOG_PID, syslog.LOG_DAEMON)
    try:
        if options.verb == "write":
            write(form, env["SLURM_JOB_ID"], written(form, options) if "SLURM_JOB_GPUS" in env else [])
        elif options.verb == "remove":
            remove(form, env["SLURM_JOB_ID"])
        else:
            tidy(form, env["SLURMD_NODENAME"])
    except (OSError, StopIteration, ValueError, KeyError, Unknown, subprocess.SubprocessError) as err:
        syslog.syslog(syslog.LOG_ERR, f"{options.verb}: {err}")
        return int(options.verb == "tidy")
    return 0


if __name__ == "__main__":
    sys.exit(main())
