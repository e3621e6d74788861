# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Two nodes as Slurm shows them, and jobs on them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from testinfra.host import Host

from lab.hosts.paths import Paths
from tests.waiting import until

SSH_CONFIG = Paths.of().ssh_config
testinfra_hosts = [f"ssh://gpu01?ssh_config={SSH_CONFIG}&timeout=60"]

PARTS = "/etc/drawbridge/slurm"
RAN = "/run/parts-ran"
MAPPING = "/run/drawbridge/job-mapping"
PATIENCE_S = 300


@pytest.fixture
def parts(host: Host) -> Iterator[None]:
    """Of the test's own job alone: none before it is left. They come whole, so that no dispatcher meets half of one."""
    until(lambda: not host.check_output("squeue -h -w gpu01,gpu02"), PATIENCE_S, "no job is left")
    for kind in ("prolog", "epilog"):
        for name in ("10-a", "20-b"):
            path = f"{PARTS}/{kind}.d/{name}"
            script = f"#!/bin/sh\\necho $SLURM_JOB_ID {kind} {name} >> {RAN}\\n"
            host.check_output(f"printf '{script}' > {path}.new && chmod 755 {path}.new && mv {path}.new {path}")
    yield
    host.check_output(f"rm -f {PARTS}/prolog.d/??-[ab] {PARTS}/epilog.d/??-[ab] {RAN}")


def as_ada(host: Host, command: str) -> str:
    return host.check_output(f"su ada -s /bin/sh -c 'cd /tmp; {command}'")


def test_the_node_shows_the_intended_machine_and_has_no_slurm_conf(host: Host) -> None:
    told = host.check_output("scontrol show node gpu01 -o")
    for part in (
        "CPUEfctv=120",
        "CPUTot=128",
        "Sockets=2",
        "CoresPerSocket=32",
        "ThreadsPerCore=2",
        "Gres=gpu:h100:8(S:0-1)",
    ):
        assert f" {part} " in told
    assert host.run("test -e /etc/slurm/slurm.conf").rc == 1


def test_a_job_gets_the_gpus_that_it_asks_for_on_both_nodes(host: Host) -> None:
    out = as_ada(host, 'srun -p hpc -N2 --gres=gpu:h100:8 sh -c "hostname; id -un; echo \\$CUDA_VISIBLE_DEVICES"')
    assert sorted(out.split()) == ["0,1,2,3,4,5,6,7", "0,1,2,3,4,5,6,7", "ada", "ada", "gpu01", "gpu02"]


def test_two_gpus_are_two_gpus_with_their_part_of_the_node(host: Host) -> None:
    out = as_ada(host, 'srun -p hpc --gres=gpu:2 sh -c "echo \\$CUDA_VISIBLE_DEVICES \\$SLURM_CPUS_ON_NODE"')
    assert out.split() == ["0,1", "28"]


def test_a_job_may_lock_as_much_memory_as_slurmd_and_not_as_its_login(host: Host) -> None:
    of_slurmd = host.check_output(
        "prlimit --pid $(pgrep -xo slurmd) --memlock --output SOFT --noheadings --raw"
    ).strip()
    asked = "srun -p hpc -w gpu01 prlimit --memlock --output SOFT --noheadings --raw"
    assert as_ada(host, f"ulimit -l 64; {asked}").strip() == of_slurmd
    assert of_slurmd != "65536"


def allocated(host: Host, options: str) -> dict[str, str]:
    """What a job of these options gets, in Slurm's words. One task reads it: 120 scontrol at once may lose output."""
    first = "[ \\$SLURM_PROCID != 0 ] || scontrol show job \\$SLURM_JOB_ID -o"
    told = as_ada(host, f'srun {options} sh -c "{first}"')
    return dict(pair.split("=", 1) for pair in told.split(" AllocTRES=")[1].split()[0].split(","))


@pytest.mark.parametrize(
    ("options", "memory"),
    [("-n2", "34200M"), ("--gres=gpu:2", "501G"), ("--gres=gpu:1 --mem=4G", "4G"), ("--exclusive", "2052000M")],
)
def test_a_job_takes_the_memory_of_its_cpus_or_of_its_gpus(host: Host, options: str, memory: str) -> None:
    assert allocated(host, f"-p hpc -w gpu01 {options}")["mem"] == memory


def test_a_class_is_a_nodeset_of_partitions_and_a_feature_for_jobs(host: Host) -> None:
    assert {"Nodes=gpu[01-04]", "NodeSets=h100"} <= set(host.check_output("scontrol show partition hpc -o").split())
    assert as_ada(host, "srun -p hpc -C h100 hostname") in ("gpu01", "gpu02")
    refused = host.run("su ada -s /bin/sh -c 'cd /tmp; srun -p hpc -C a100 hostname'")
    assert "Invalid feature specification" in refused.stderr


def test_a_gated_partition_gives_the_whole_node(host: Host) -> None:
    tres = allocated(host, "-p ai-train -n1 --gres=gpu:1")
    assert (tres["cpu"], tres["gres/gpu:h100"], tres["node"]) == ("120", "8", "1")


@pytest.mark.usefixtures("parts")
def test_prolog_parts_run_upwards_and_epilog_parts_downwards(host: Host) -> None:
    """Of this job: the epilog of the one before may still be on its way."""
    job = as_ada(host, "srun -p hpc -w gpu01 printenv SLURM_JOB_ID").strip()
    mine = f"grep '^{job} ' {RAN}"
    parts = ["prolog 10-a", "prolog 20-b", "epilog 20-b", "epilog 10-a"]
    until(lambda: len(host.check_output(mine).splitlines()) >= len(parts), PATIENCE_S, "all parts ran")
    assert host.check_output(mine).splitlines() == [f"{job} {part}" for part in parts]


def test_nothing_keeps_the_nodes_back(host: Host) -> None:
    def states() -> set[str]:
        """Without the star of a node whose last answer is a while ago."""
        return {state.rstrip("*") for state in host.check_output("sinfo -h -N -n gpu01,gpu02 -o %T").split()}

    until(lambda: states() <= {"idle", "completing"}, PATIENCE_S, "both nodes are in service")


def test_no_job_gets_reserved_cpus_or_memory(host: Host) -> None:
    told = host.check_output("scontrol show node gpu01 -o")
    assert {"CPUSpecList=0-3,64-67", "MemSpecLimit=12288", "RealMemory=2064384"} <= set(told.split())
    for much in ("-N1 -n121", "--mem=2052097M"):
        refused = host.run(f"su ada -s /bin/sh -c 'cd /tmp; srun -p hpc -w gpu01 {much} true'")
        assert refused.rc != 0
        assert "Requested node configuration is not available" in refused.stderr
    assert allocated(host, "-p hpc -w gpu01 -n120 --mem=2052096M")["cpu"] == "120"


def test_all_gpus_can_be_had_one_by_one(host: Host) -> None:
    jobs = [as_ada(host, 'sbatch --parsable -p hpc -w gpu02 --gres=gpu:1 --wrap="sleep 900"') for _ in range(8)]
    try:
        running = f"squeue -h -t R -j {','.join(jobs)}"
        until(lambda: len(host.check_output(running).splitlines()) == len(jobs), PATIENCE_S, "all jobs run at once")
    finally:
        host.check_output(f"scancel {' '.join(jobs)}")


def mapped(host: Host) -> dict[str, str]:
    """The job of each GPU, as DCGM's exporter reads it."""
    shown = host.run(f"cd {MAPPING} && grep -H . [0-9]*").stdout
    return dict(line.split(":", 1) for line in shown.splitlines())


def test_the_metrics_of_gpus_have_their_jobs_name_while_the_job_runs(host: Host) -> None:
    jobs = [as_ada(host, 'sbatch --parsable -p hpc -w gpu01 --gres=gpu:2 --wrap="sleep 900"') for _ in range(2)]
    try:
        until(lambda: set(mapped(host).values()) == set(jobs), PATIENCE_S, "both jobs are named")
        assert sorted(mapped(host).values()) == sorted(jobs * 2)
    finally:
        host.check_output(f"scancel {jobs[0]}")
    until(lambda: set(mapped(host).values()) == {jobs[1]}, PATIENCE_S, "the other job stays")
    host.check_output(f"scancel {jobs[1]}")
    until(lambda: not mapped(host), PATIENCE_S, "no job is named")


def test_a_job_whose_epilog_was_lost_is_no_longer_named_once_slurmd_has_started(host: Host) -> None:
    """Such a file would give the next job's metrics, or an idle GPU's, to a job that is over."""
    job = as_ada(host, 'sbatch --parsable -p hpc -w gpu01 --gres=gpu:1 --wrap="sleep 900"')
    try:
        until(lambda: job in mapped(host).values(), PATIENCE_S, "the job is named")
        host.check_output(f"echo 4000000 > {MAPPING}/7; systemctl restart slurmd")
        until(lambda: set(mapped(host).values()) == {job}, PATIENCE_S, "the lost job is gone, the running one is not")
    finally:
        host.check_output(f"scancel {job}")
    until(lambda: not mapped(host), PATIENCE_S, "no job is named")
