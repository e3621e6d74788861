# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An NFS mount of the kernel's own, on a server that stops and on one that forgets."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import pytest

from tests.isolation.node import LAB, PATIENCE_S, here, slurm
from tests.waiting import until

pytestmark = pytest.mark.live
MOUNT = "/nfs/data"


def found() -> str:
    """What a run of the role says of the mount, without changing anything."""
    done = LAB.playbook("storage", "--check")
    return " ".join([done.output, *(str(result.get("msg", "")) for _, _, result in done.results())])


@contextlib.contextmanager
def stopped() -> Iterator[None]:
    here("systemctl stop nfs-server.service")
    try:
        yield
    finally:
        here("systemctl start nfs-server.service")


def test_the_kernel_has_the_mount_that_the_intent_asks_for() -> None:
    line = next(line for line in here("cat /proc/mounts").splitlines() if f" {MOUNT} " in line)
    source, _, kind, options = line.split()[:4]
    assert (source, kind) == ("gpu01:/data", "nfs4")
    assert {"hard", "vers=4.2", "nconnect=2", "noatime", "proto=tcp"} <= set(options.split(","))


def test_a_job_writes_what_the_server_has() -> None:
    slurm(f"srun --partition=hpc --mem=100M sh -c 'echo by ada > {MOUNT}/note'")
    assert here("cat /srv/nfs/data/note; stat --format=%u /srv/nfs/data/note").split() == ["by", "ada", "2001"]


def test_a_server_that_stops_holds_up_no_run_and_the_mount_comes_back() -> None:
    with stopped():
        assert re.search(f"{MOUNT} gave no answer within 10 s", found())
    until(lambda: here(f"timeout 10 cat {MOUNT}/note") == "by ada", PATIENCE_S, "the mount answers again")
