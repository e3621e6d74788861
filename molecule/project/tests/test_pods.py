# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Pods of projects with real kubelets: claims, quotas, and directories of others."""

from __future__ import annotations

import pytest

from tests.stack import job_state, ssh
from tests.waiting import until

HOMES, ROOT = "/gpfs/fs1/home", "/gpfs/fs1/projects"
PEOPLE = {"genome": ("ada", "vision"), "voice": ("cleo", "speech"), "solvent": ("dan", "chem")}
"""Of each project: who runs its pods, and the group of its files."""
IMAGE = "docker.io/lab/python:3"
LONG_S = 600


def ended(job: str) -> bool:
    return job_state(job) in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")


def run(command: str, options: str = "", project: str = "genome") -> tuple[str, str]:
    """What a pod of a project's job prints, and the job's state."""
    user, _group = PEOPLE[project]
    home = f"{HOMES}/{user}"
    # the pods of genome alone see the homes: the others work in their claim
    line = f"drawbridge-run --image {IMAGE} --pull never {options} -- sh -c '{command}'"
    sbatch = f"sbatch --parsable -A {project} -p ai-train --gres=gpu:h100:8 --time=10 --chdir={home}"
    job = ssh("ctl", f"cd /; runuser -u {user} -- {sbatch} --output={home}/%j.out", f"#!/bin/sh\nexec {line}\n")
    until(lambda: ended(job), LONG_S, f"job {job} ends")
    return ssh("gpu01", f"cat {home}/{job}.out"), job_state(job)


CLAIM = "--claim files --workdir /claims/files"


@pytest.mark.parametrize("project", PEOPLE)
def test_a_pod_writes_into_the_claim_of_its_project(project: str) -> None:
    said, state = run(f"echo from a pod > /claims/files/pod && cat {ROOT}/{project}/pod", CLAIM, project)
    assert state == "COMPLETED" and "from a pod" in said, said
    assert ssh("gpu02", f"stat -c '%U:%G' {ROOT}/{project}/pod") == ":".join(PEOPLE[project])


@pytest.mark.parametrize("project", PEOPLE)
def test_a_pod_writes_no_more_than_the_quota(project: str) -> None:
    large = "/claims/files/large"
    write = f"dd if=/dev/zero of={large} bs=1048576 count=2100; code=$?; rm -f {large}; exit $code"
    said, state = run(write, CLAIM, project)
    assert state == "FAILED" and ("No space left" in said or "quota" in said), said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--claim other", "--claim other: the project has no such claim; it has: files, images (read only)"),
        (f"--mount {ROOT}/voice", ROOT),
    ],
)
def test_the_launcher_refuses_claims_and_folders_of_others(options: str, words: str) -> None:
    said, state = run("true", options)
    assert state == "FAILED" and words in said, said


def test_a_pod_reads_a_data_set_and_never_writes_it() -> None:
    ssh("nsd1", "mkdir -p /gpfs/fs1/data/images; echo cat > /gpfs/fs1/data/images/one; chmod 777 /gpfs/fs1/data/images")
    said, state = run("cat /claims/images/one; touch /claims/images/two", "--claim images")
    assert state == "FAILED" and "cat" in said and "Read-only file system" in said, said


def test_a_pod_sees_no_directory_of_another_project() -> None:
    said, state = run(f"ls {ROOT} && ls {ROOT}/voice")
    assert state == "FAILED" and "No such file" in said, said
