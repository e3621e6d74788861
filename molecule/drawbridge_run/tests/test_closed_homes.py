# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the container runtime does as root on a pod's way: it must lead nobody into somebody else's closed directory.

ben's home is closed; his project below it is not, which helps nobody who can't pass the home.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from lab import demo
from lab.image.build import ensure
from lab.kubernetes import images, oci
from tests.stack import PATHS, ssh, until

from .conftest import HOME, IMAGE, alone_on, ask, closed, code, ended, nothing_left, output, submit

NODE = "gpu01"
BEN = HOME.format("ben")
PROJECT = f"{BEN}/project"
ASTRAY = "docker.io/lab/astray:1"
JOBS = "/apis/batch/v1/namespaces/vision/jobs"
CALL = "drawbridge-run --image {} --pull never {} -- sh -c '{}'"
LOOK = f"pwd; id -u; cat plan.txt; cat {PROJECT}/plan.txt; ls {PROJECT}; echo looked"


@pytest.fixture(scope="module")
def home() -> Iterator[None]:
    """A closed home with an open project in it, and an image that starts there."""
    with alone_on(NODE):
        until(lambda: closed(NODE), 180, f"{NODE} closed and in service")
        plan = f"{PROJECT}/plan.txt"
        ssh(NODE, f"install -d -o ben -g vision -m 755 {PROJECT}; chmod 700 {BEN}")
        ssh(NODE, f"echo bens plan > {plan}; chown ben:vision {plan}; chmod 644 {plan}")
        layer = images.layer(images.IMAGES[1], ensure(PATHS.cache, print).tree)
        load(oci.archive(ASTRAY, ("sh",), layer, f"{PROJECT}/made/by/root"))
        before = tree()
        yield
        assert tree() == before, "nothing was made on the way"


def load(archive: bytes) -> None:
    """Bring an image onto the node."""
    argv = demo.ssh(PATHS, NODE, "ctr --namespace k8s.io images import -")
    subprocess.run(argv, input=archive, check=True, capture_output=True, timeout=300)


def tree() -> list[str]:
    """All that is in ben's home, with owners and modes."""
    return sorted(ssh(NODE, f"find {BEN} -printf '%p %u %m\\n'").splitlines())


def test_an_image_starts_where_its_user_may_go(home: None) -> None:
    """The image's WORKDIR is made and entered by nobody: the pod says where it starts."""
    job = submit(f"-w {NODE}", CALL.format(ASTRAY, "--workdir /gpfs/fs1/home/ada", LOOK))
    until(lambda: ended(job), 180, "the job ends")
    said = output(job)
    assert "/gpfs/fs1/home/ada\n2001\n" in said and "looked" in said, said
    assert "bens plan" not in said and "Permission denied" in said, said
    nothing_left(job, NODE)


def test_a_directory_that_its_user_may_not_enter_starts_nothing(home: None) -> None:
    job = submit(f"-w {NODE}", CALL.format(IMAGE, f"--workdir {PROJECT}", "echo ran; cat plan.txt"))
    until(lambda: ended(job), 180, "the job ends")
    assert code(job) == "FAILED|125:0", output(job)
    assert "bens plan" not in output(job) and "\nran" not in output(job)
    nothing_left(job, NODE)


@pytest.fixture(scope="module")
def job(home: None) -> Iterator[str]:
    """A job of ada's that only holds its node, with the workload that drawbridge-run would make there."""
    ssh(NODE, "rm -f /gpfs/fs1/home/ada/workload.json")
    call = f"drawbridge-run --dry-run --image {IMAGE} --pull never -- sleep 60"
    number = submit(f"-w {NODE}", f"#!/bin/sh\n{call} > workload.json\nexec sleep 3600\n")
    until(lambda: ssh(NODE, "tail -n1 /gpfs/fs1/home/ada/workload.json 2>/dev/null || true") == "}", 180, "it is told")
    yield number
    ssh("ctl", f"scancel {number}")
    nothing_left(number, NODE)


def workload(**container: Any) -> dict[str, Any]:
    """That workload, with a container that has something else."""
    (body,) = json.loads(ssh(NODE, "cat /gpfs/fs1/home/ada/workload.json"))["items"]
    (main,) = body["spec"]["template"]["spec"]["containers"]
    main |= container
    return {**body, "metadata": {**body["metadata"], "name": f"{body['metadata']['name']}-x"}}


EMPTY = {"name": "shm", "mountPath": f"{PROJECT}/mounted"}


@pytest.mark.parametrize(
    ("container", "says"),
    [
        ({"workingDir": PROJECT}, "workingDir: /"),
        ({"workingDir": None, "image": ASTRAY}, "workingDir: /"),
        ({"terminationMessagePath": f"{PROJECT}/message"}, "terminationMessagePath is"),
        ({"volumeMounts": [{"name": "fs0", "mountPath": "/gpfs/fs1"}, EMPTY]}, "a hostPath is mounted at its own path"),
        ({"volumeMounts": [{"name": "fs0", "mountPath": PROJECT}]}, "a hostPath is mounted at its own path"),
    ],
    ids=["workingDir", "WORKDIR", "terminationMessagePath", "mountPath below", "mountPath of the file system"],
)
def test_no_workload_that_would_have_root_go_there_is_let_in(job: str, container: dict[str, Any], says: str) -> None:
    body = workload(**container)
    for key in [key for key, value in container.items() if value is None]:
        del body["spec"]["template"]["spec"]["containers"][0][key]
    status, text = ask(NODE, "ada", job, "POST", JOBS, body)
    assert status == 422 and "drawbridge-workloads" in text and says in text, text


def test_the_same_workload_without_it_is_let_in(job: str) -> None:
    status, text = ask(NODE, "ada", job, "POST", JOBS, workload())
    assert status == 201, text
