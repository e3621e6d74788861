# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""File systems below any directories: pods see them at their own paths, with the user's groups and no others."""

from __future__ import annotations

from tests.stack import ssh, until

from .conftest import alone_on, closed, code, ended, nothing_left, output, run, submit

NODE = "gpu02"
HOMES = ("/gpfs/fs1/home/ada", "/home/ada", "/data/home/ada")
"""Storage Scale below a directory, and two of NFS in the root."""


def test_a_pod_sees_all_file_systems_of_the_site() -> None:
    with alone_on(NODE):
        until(lambda: closed(NODE), 180, f"{NODE} closed and in service")
        writes = "; ".join(f"echo from $(hostname) > {home}/seen || exit 1" for home in HOMES)
        job = submit(f"-w {NODE}", run(f"id -u; id -G; {writes}; echo wrote"))
        until(lambda: ended(job), 180, "the job ends")
        assert code(job) == "COMPLETED|0:0" and "wrote" in output(job), output(job)
        ids = ssh(NODE, "id -u ada; id -G ada").split()
        said = output(job).splitlines()
        at = said.index(ids[0])
        assert sorted(said[at + 1].split()) == sorted(ids[1:]), said
        for home in HOMES:
            assert ssh(NODE, f"stat -c %U {home}/seen; cat {home}/seen").split() == ["ada", "from", NODE]
        nothing_left(job, NODE)
