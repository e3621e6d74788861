# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A new munge key for controller, node and login host, while a job runs."""

from __future__ import annotations

import os
import subprocess

from testinfra.host import Host

from lab.hosts.paths import REPOSITORY, Paths
from tests.waiting import until

SSH_CONFIG = Paths.of().ssh_config
HOSTS = ("ctl", "gpu01", "login1")
testinfra_hosts = [f"ssh://login1?ssh_config={SSH_CONFIG}&timeout=60"]
AS_ADA = "cd /; runuser -u ada --"
PATIENCE_S = 300


def digests() -> list[str]:
    command = "sha256sum < /etc/munge/munge.key"
    return [
        subprocess.run(["ssh", "-F", str(SSH_CONFIG), host, command], capture_output=True, text=True, check=True).stdout
        for host in HOSTS
    ]


def rotate() -> str:
    """Run the playbook on the hosts of this scenario; everything that it printed."""
    command = ["ansible-playbook", "-vvv", "--diff", "-i", "inventories/lab", "playbooks/munge_rotate.yml"]
    env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg"}
    done = subprocess.run(
        [*command, "--limit", ",".join(HOSTS)], cwd=REPOSITORY, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    return done.stdout + done.stderr


def test_all_hosts_get_one_new_key_and_jobs_go_on(host: Host) -> None:
    wrap = "until test -e /run/user/go.$SLURM_JOB_ID; do sleep 0.2; done"
    job = host.check_output(
        f"{AS_ADA} sbatch --parsable -p hpc -w gpu01 --mem=100 --time=60 -o /dev/null --wrap='{wrap}'"
    ).strip()
    until(lambda: state(host, job) == "RUNNING", PATIENCE_S, "the job runs")
    (before, *others) = digests()
    assert set(others) == {before}
    told = rotate()
    (after, *others) = digests()
    assert set(others) == {after} != {before}
    key = subprocess.run(
        ["ssh", "-F", str(SSH_CONFIG), "ctl", "base64 -w0 /etc/munge/munge.key"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert key not in told
    # a health check between the two keys goes unanswered, and Slurm asks again only after a minute or two
    assert host.check_output(f"{AS_ADA} srun -p hpc -w gpu01 --mem=100 --immediate=240 hostname") == "gpu01"
    assert host.check_output(f"squeue -h -j {job} -o %T") == "RUNNING"
    go = f"mkdir -p /run/user; touch /run/user/go.{job}"
    subprocess.run(["ssh", "-F", str(SSH_CONFIG), "gpu01", go], check=True)
    until(lambda: state(host, job) == "COMPLETED", PATIENCE_S, "the job is over")
    told = until(lambda: host.check_output(f"sacct -n -X -P -j {job} -o Restarts"), PATIENCE_S, "accounting has it")
    assert told == "0"


def state(host: Host, job: str) -> str:
    return host.check_output(f"squeue -h -t all -j {job} -o %T").strip()
