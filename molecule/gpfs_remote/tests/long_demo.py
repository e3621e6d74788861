# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, on the whole lab: a site whose only file system another cluster owns."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from lab import demo
from lab.hosts.paths import REPOSITORY, Paths

PATHS = Paths.of()
SITE = ("-i", "inventories/lab", "-i", "molecule/gpfs_remote/inventory")
HOME = "/gpfs/data/home/ada"


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """All hosts of the site, of which the scenario has some."""
    subprocess.run([sys.executable, "lab/lab", "up"], cwd=REPOSITORY, check=True)
    print(site())
    # homes are the owner's affair
    home = f"install -d {HOME.rpartition('/')[0]} && install -d -m 700 -o ada -g vision {HOME}"
    subprocess.run(demo.ssh(PATHS, "gpu01", home), check=True)


def site() -> str:
    """Output of a run of the whole site."""
    argv = [str(demo.BIN / "ansible-playbook"), *SITE, "playbooks/site.yml"]
    env = {**os.environ, "ANSIBLE_NOCOLOR": "1"}
    done = subprocess.run(argv, cwd=REPOSITORY, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


def test_a_job_with_pods_writes_to_the_owners_file_system() -> None:
    job = demo.submit(PATHS, HOME)
    said = subprocess.check_output(demo.ssh(PATHS, "gpu02", f"cat {HOME}/{job}.out"), text=True)
    assert f"slurm-{job}-r0-allreduce: Complete, exit codes [0, 0]" in said
    assert said.count("sum 3.0, expected 3.0") == 2


def test_a_second_run_changes_nothing() -> None:
    assert re.findall(r"^\S+ .*changed=[1-9].*", site(), re.MULTILINE) == []
