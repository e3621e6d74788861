# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the container runtime does as root on a pod's way: it must lead no user into another user's closed directory.

ben's home is closed; his project below it is not, which helps no user who can't pass the home.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from lab import demo
from lab.image.build import ensure
from lab.kubernetes import images, oci
from tests.stack import PATHS, ssh, until

from .conftest import HOME, IMAGE, alone_on, closed, code, ended, nothing_left, output, submit

NODE = "gpu01"
BEN = HOME.format("ben")
PROJECT = f"{BEN}/project"
ASTRAY = "docker.io/lab/astray:1"
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
    """The image's WORKDIR is neither made nor entered: the pod says where it starts."""
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
