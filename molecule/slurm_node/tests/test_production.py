# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Production's cgroup.conf before a real slurmd, which the lab's own nodes can't run with where cgroups are hybrid."""

from __future__ import annotations

import re
from pathlib import PurePath

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.view import controller_files
from testinfra.host import Host

from lab.hosts.paths import REPOSITORY, Paths

SSH_CONFIG = Paths.of().ssh_config
testinfra_hosts = [f"ssh://gpu01?ssh_config={SSH_CONFIG}&timeout=60"]

SCRATCH = PurePath("/run/production")
ELSEWHERE = ("SlurmdSpoolDir=", "SlurmdPidFile=", "HealthCheck")
"""What would reach the real slurmd."""
CONTROLLERS = {"cpuset", "cpu", "memory"}
"""What slurmd confines jobs with, beside devices, which need none."""


def files() -> dict[str, str]:
    """The files of the lab's controller as they were if its cgroups could confine jobs."""
    folder = REPOSITORY / "inventories/lab/group_vars/all"
    raw = {name: yaml.safe_load((folder / f"{name}.yml").read_text()) for name in ("slurm", "nodes")}
    slurm, nodes = part("slurm", raw["slurm"]["drawbridge_slurm"]), part("nodes", raw["nodes"]["drawbridge_nodes"])
    texts = controller_files(slurm, nodes, cgroups=True)
    own = [line for line in texts["slurm.conf"].splitlines() if not line.startswith(ELSEWHERE)]
    own += [f"SlurmdSpoolDir={SCRATCH}/spool", f"SlurmdPidFile={SCRATCH}/pid"]
    return {**texts, "slurm.conf": "".join(f"{line}\n" for line in own)}


HYBRID, STARTED = "Hybrid mode is not supported", re.compile(r"slurmd version \S+ started")
TRY = f"""
timeout --kill-after=5 60 unshare --net --pid --fork --kill-child \\
  sh -c 'ip link set lo up; exec slurmd -D -N gpu01 -f {SCRATCH}/slurm.conf' > {SCRATCH}/log 2>&1 &
while kill -0 $! 2>/dev/null && ! grep -Eq 'fatal|{STARTED.pattern}' {SCRATCH}/log; do sleep 0.1; done
kill $! 2>/dev/null; wait $!; cat {SCRATCH}/log; rm -rf {SCRATCH}
"""


def slurmd(host: Host, texts: dict[str, str]) -> str:
    """What a slurmd that no host can reach says of the files until it has started, or died."""
    host.check_output(f"mkdir -p {SCRATCH}/spool")
    for name, text in texts.items():
        host.check_output("printf '%%s' %s > %s", text, str(SCRATCH / name))
    return host.check_output(TRY)


def test_slurmd_reads_it_and_stops_only_where_the_machine_cant_confine_jobs(host: Host) -> None:
    said = slurmd(host, files())
    assert "Parsing error" not in said
    fatal = [line for line in said.splitlines() if "fatal" in line]
    mounted = host.run("cat /sys/fs/cgroup/cgroup.controllers").stdout.split()
    if set(mounted) >= CONTROLLERS:
        # a scope from systemd, outside of its own unit, is that machine's matter: what it says of files counts
        assert fatal or STARTED.search(said), said
        assert not [line for line in fatal if ".conf" in line or "pars" in line.lower()]
    else:
        assert fatal, said
        assert [line for line in fatal if HYBRID not in line] == []


@pytest.mark.parametrize("wrong", ["ConstrainKmemSpace=yes", "TaskAffinity=yes"])
def test_slurmd_would_say_so_of_a_key_that_it_does_not_know(host: Host, wrong: str) -> None:
    texts = files()
    said = slurmd(host, {**texts, "cgroup.conf": f"{texts['cgroup.conf']}{wrong}\n"})
    assert f"Parsing error at unrecognized key: {wrong.partition('=')[0]}" in said
