# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the container runtime does as root on a pod's way: it must lead no user into another user's closed directory.

Links of an image would lead it there, if the guard did not refuse them. Without the guard they do.

ben's home is closed; his project below it is not, which helps no user who can't pass the home.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import tarfile
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
CLOSED = f"{BEN}/closed"
ASTRAY, LINKED = "docker.io/lab/astray:1", "docker.io/lab/linked:{}"
GUARD = "/usr/local/libexec/drawbridge/runtime-guard"
NO_GUARD = """import os, sys
runtime = open("/etc/drawbridge/gate/runtime").read().strip()
os.execv(runtime, [runtime, *sys.argv[1:]])
"""
LINKS = {
    "dev": CLOSED,
    "etc": CLOSED,
    "gpfs": "/dev",
    "sys": f"/proc/self/root{CLOSED}",
}
CALL = "drawbridge-run --image {} --pull never {} -- sh -c '{}'"
LOOK = f"pwd; id -u; cat plan.txt; cat {PROJECT}/plan.txt; ls {PROJECT}; echo looked"


@pytest.fixture(scope="module")
def home() -> Iterator[None]:
    """A closed home with an open project in it, and an image that starts there."""
    with alone_on(NODE):
        until(lambda: closed(NODE), 180, f"{NODE} closed and in service")
        plan = f"{PROJECT}/plan.txt"
        ssh(NODE, f"install -d -o ben -g vision -m 755 {PROJECT} {CLOSED}; chmod 700 {BEN}")
        ssh(NODE, f"echo bens plan > {plan}; chown ben:vision {plan}; chmod 644 {plan}")
        layer = images.layer(images.IMAGES[1], ensure(PATHS.cache, print).tree)
        load(oci.archive(ASTRAY, ("sh",), layer, f"{PROJECT}/made/by/root"))
        for name, target in LINKS.items():
            load(oci.archive(LINKED.format(name), ("sh",), linked(layer, name, target)))
        before = tree()
        yield
        assert tree() == before, "nothing was made on the way"


def load(archive: bytes) -> None:
    """Bring an image onto the node."""
    argv = demo.ssh(PATHS, NODE, "ctr --namespace k8s.io images import -")
    subprocess.run(argv, input=archive, check=True, capture_output=True, timeout=300)


def linked(layer: bytes, name: str, target: str) -> bytes:
    """The layer with a link in place of one of its directories."""
    made = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(layer)) as old, tarfile.open(fileobj=made, mode="w") as new:
        for entry in old:
            if entry.name.strip("./").partition("/")[0] != name:
                new.addfile(entry, old.extractfile(entry) if entry.isreg() else None)
        link = tarfile.TarInfo(name)
        link.type, link.linkname = tarfile.SYMTYPE, target
        new.addfile(link)
    return made.getvalue()


@contextlib.contextmanager
def unguarded() -> Iterator[None]:
    """The guard lets everything pass meanwhile."""
    ssh(NODE, f"cp -p {GUARD} {GUARD}.kept && cat > {GUARD}", NO_GUARD)
    try:
        yield
    finally:
        ssh(NODE, f"mv {GUARD}.kept {GUARD}")


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


@pytest.mark.parametrize("name", LINKS)
def test_an_image_that_leads_root_into_a_closed_directory_does_not_start(home: None, name: str) -> None:
    job = submit(f"-w {NODE}", CALL.format(LINKED.format(name), "--workdir /gpfs/fs1/home/ada", "echo ran"))
    until(lambda: ended(job), 180, "the job ends")
    assert "OCI runtime create failed: drawbridge: " in output(job) and " image " in output(job), output(job)
    assert "\nran" not in output(job)
    nothing_left(job, NODE)


def test_without_the_guard_root_writes_there(home: None) -> None:
    """So the guard is what keeps it from that: the runtime makes devices where the image's /dev leads."""
    before = tree()
    with unguarded():
        job = submit(f"-w {NODE}", CALL.format(LINKED.format("dev"), "--workdir /gpfs/fs1/home/ada", "echo ran"))
        until(lambda: ended(job), 180, "the job ends")
    made = {line.split()[0] for line in {*tree()} - {*before}}
    ssh(NODE, f"find {CLOSED} -mindepth 1 -delete")
    assert f"{CLOSED}/null" in made, output(job)
    nothing_left(job, NODE)
