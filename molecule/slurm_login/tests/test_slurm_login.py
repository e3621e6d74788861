# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A login host as a user finds it."""

from __future__ import annotations

from testinfra.host import Host

from lab.hosts.paths import Paths
from tests.waiting import until

SSH_CONFIG = Paths.of().ssh_config
testinfra_hosts = [f"ssh://login1?ssh_config={SSH_CONFIG}&timeout=60"]


def as_user(host: Host, user: str, command: str) -> str:
    return host.check_output(f"su {user} -s /bin/sh -c 'cd /tmp; {command}'")


def test_commands_work_without_a_configuration_on_disk(host: Host) -> None:
    assert host.run("test -e /etc/slurm/slurm.conf").rc == 1
    assert "UP" in host.check_output("scontrol ping")
    assert host.run("test -e /usr/sbin/slurmd").rc == 1


def test_a_job_is_submitted_run_and_accounted(host: Host) -> None:
    sbatch = "timeout 900 sbatch --wait --parsable -p hpc --gres=gpu:h100:8 -o /dev/null --wrap hostname"
    job = as_user(host, "ada", sbatch)
    sacct = f"sacct -n -X -P -j {job} -o user,account,state,alloctres,nodelist"
    # slurmctld tells the accounting database of the end in its own time
    told = until(lambda: (row := as_user(host, "ada", sacct)) and "|COMPLETED|" in row and row, 300, "it is accounted")
    row = told.split("|")
    assert (row[0], row[1], row[2], row[4]) == ("ada", "vision", "COMPLETED", "gpu01")
    assert "gres/gpu:h100=8" in row[3].split(",")


def test_whoever_has_no_account_is_refused(host: Host) -> None:
    refused = host.run("su eve -s /bin/sh -c 'cd /tmp; sbatch -p hpc --wrap hostname'")
    assert refused.rc != 0
    assert "Invalid account or account/partition combination specified" in refused.stderr


def test_what_gated_partitions_refuse_is_refused_here_too(host: Host) -> None:
    """By the script that sackd has fetched; scenario slurm_controller has what the controller refuses itself."""
    options = "-p ai-train -N1 --no-kill --wrap=true"
    refused = host.run(f"su ada -s /bin/sh -c 'cd /tmp; sbatch -o /dev/null {options}'")
    assert refused.rc == 1
    assert "a job with --no-kill goes on after it has lost a node" in refused.stderr


def test_the_refusal_is_not_what_keeps_jobs_away(host: Host) -> None:
    job = as_user(host, "ada", "sbatch --parsable -p hpc -N1 --no-kill -o /dev/null --wrap=true")
    host.check_output(f"scancel {job}")
