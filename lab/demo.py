# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`make lab`: start the lab, build the whole site in it, run one real job through the gate, and say what happened."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from lab.hosts.paths import REPOSITORY, Paths

BIN = Path(sys.executable).parent
JOB = "examples/allreduce.sbatch"
OUTPUT = "/gpfs/fs1/home/ada"


def step(title: str, argv: list[str]) -> float:
    """Run one step in the open; leave with its exit code when it fails. Returns its seconds."""
    print(f"\n== {title}", flush=True)
    start = time.monotonic()
    done = subprocess.run(argv, cwd=REPOSITORY, check=False)
    if done.returncode:
        print(
            f"\n{title}: failed. Look with: lab/lab status; start anew with: lab/lab down && make lab", file=sys.stderr
        )
        sys.exit(done.returncode)
    return time.monotonic() - start


def ssh(paths: Paths, host: str, *command: str) -> list[str]:
    """The command line that runs a command on a host of the lab."""
    return ["ssh", "-F", str(paths.ssh_config), host, *command]


def submit(paths: Paths, folder: str = OUTPUT) -> str:
    """Submit the example as ada on the login host and wait for its end; the job's id. Leaves when it fails."""
    script = (REPOSITORY / JOB).read_text()
    sbatch = f"runuser -u ada -- sbatch --parsable --wait --chdir={folder} --output={folder}/%j.out"
    done = subprocess.run(ssh(paths, "login1", sbatch), input=script, stdout=subprocess.PIPE, text=True, check=False)
    job = done.stdout.strip()
    if job:
        subprocess.run(ssh(paths, "gpu01", f"cat {folder}/{job}.out"), check=False)
    if done.returncode:
        print(f"the job ended with exit code {done.returncode}", file=sys.stderr)
        sys.exit(done.returncode)
    return job


def main() -> None:
    """Do the steps and print how long each took."""
    paths = Paths.of()
    times = {
        "the lab's hosts and switches": step("Start the lab", [sys.executable, "lab/lab", "up"]),
        "what the cluster's administrator adds": step(
            "Be the administrator of the cluster: lab/lab administrator", [sys.executable, "lab/lab", "administrator"]
        ),
        "the site, from bare hosts": step(
            "Build the site: ansible-playbook playbooks/site.yml -i inventories/lab",
            [str(BIN / "ansible-playbook"), "playbooks/site.yml", "-i", "inventories/lab"],
        ),
    }
    print("\n== Run a job through the gate: sbatch -p ai-train -N2 --gres=gpu:h100:8", flush=True)
    start = time.monotonic()
    job = submit(paths)
    times[f"job {job}: two pods on its two nodes, all-reduce over the network"] = time.monotonic() - start
    print("\nDone:")
    for what, seconds in times.items():
        print(f"  {seconds:5.0f} s  {what}")
    print(
        f"""
Look around:
  lab/lab status                                  what runs
  lab/lab ssh login1 sinfo                        Slurm owns every node
  lab/lab ssh login1 sacct -j {job} -X               the job that just ran
  eval "$(lab/lab env)"; kubectl get nodes -o 'custom-columns=NODE:.metadata.name,TAINTS:.spec.taints[*].value'
  .venv/bin/ansible-playbook playbooks/site.yml --check --diff     nothing to change
  lab/lab ssh gpu01 mlnx_qos -i rail3 --pfc 0,0,0,0,0,1,0,0        then run the line above again
  lab/lab down                                    nothing is left"""
    )


if __name__ == "__main__":
    main()
