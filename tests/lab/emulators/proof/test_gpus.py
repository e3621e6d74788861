# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Tools that measure GPUs, memory and collectives: what they print, and how planted faults show."""

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools import (
    nccl_info_text,
    nccl_text,
    nvbandwidth_text,
    stream_text,
)

TO_GPU, LOCAL, ACROSS = "host_to_device_memcpy_ce", "device_local_copy", "device_to_device_memcpy_read_ce"
ALONE = ["-b", "8G", "-e", "8G", "-g", "8"]


def plant(host, **state):
    with host.device("proof").state() as planted:
        planted.update(state)


def values(found):
    return [getattr(it, "value", getattr(it, "why", "")) for it in found]


def bus(process, report=None):
    """The bus bandwidth, or why there is none."""
    (found,) = values(nccl_text.measures(process.stdout, process.stderr, process.returncode, "", "", report))
    return found


def test_copies_of_each_gpu(hosts):
    plant(hosts[0], gpus={"2": {"pcie": [4, 16]}, "5": {"percent": 50, "links_down": 9}}, missing=[7])
    done = hosts[0].run("nvbandwidth", "-j", "-t", TO_GPU, LOCAL, ACROSS, "bogus")
    found = nvbandwidth_text.measures(done.stdout, done.stderr, done.returncode, "n", [TO_GPU, LOCAL, ACROSS, "bogus"])
    by_name = {name: [it for it in found if it.name == name] for name in (TO_GPU, LOCAL, ACROSS, "bogus")}
    whole = [pytest.approx(55.4, rel=0.011)] * 7
    assert values(by_name[TO_GPU]) == [
        *whole[:2],
        pytest.approx(27.7, rel=0.011),
        *whole[:2],
        *[pytest.approx(27.7, rel=0.011)],
        whole[0],
    ]
    assert values(by_name[LOCAL])[5] == pytest.approx(730, rel=0.011)
    assert (len(by_name[ACROSS]), "does not know" in values(by_name["bogus"])[0]) == (42, True)


def test_gemm_and_stream(hosts):
    plant(hosts[0], gpus={"1": {"percent": 70}}, memory_percent=50)
    rates = [float(line.split()[2]) for line in hosts[0].run("gemm").stdout.splitlines()]
    assert rates == [pytest.approx(532 if gpu == 1 else 760, rel=0.011) for gpu in range(8)]
    triad = hosts[0].run("stream").stdout
    assert values(stream_text.measures(triad, "", 0, "")) == [pytest.approx(241, rel=0.011)]


def test_noise_is_a_sequence_of_its_seed(hosts):
    plant(hosts[0], seed=1)
    first, second = hosts[0].run("gemm").stdout, hosts[0].run("gemm").stdout
    plant(hosts[0], seed=1, runs={})
    assert (first == second, hosts[0].run("gemm").stdout == first) == (False, True)


@pytest.mark.parametrize(
    ("planted", "rate", "remarks"),
    [
        ({}, 467, []),
        ({"nvls": False}, 367, [nccl_info_text.NVLS_INACTIVE]),
        ({"gpus": {"3": {"links_down": 6}}}, 244.7, [nccl_info_text.NVLS_INACTIVE]),
    ],
)
def test_one_node_alone(hosts, planted, rate, remarks):
    plant(hosts[0], **planted)
    hosts[0].environment["NCCL_DEBUG"] = "INFO"
    file = hosts[0].root / "report.json"
    done = hosts[0].run("all_reduce_perf", *ALONE, "-J", file)
    assert [bus(done), bus(done, file.read_text())] == [pytest.approx(rate, rel=0.012)] * 2
    assert [it.name for it in nccl_info_text.remarks(done.stdout, ["gpu01"])] == remarks


def test_a_missing_gpu_is_named_by_number(hosts):
    plant(hosts[0], missing=[3])
    done = hosts[0].run("all_reduce_perf", *ALONE)
    assert (done.returncode, "8 requested but only 7 were found" in bus(done)) == (5, True)
    assert len(hosts[0].run("nvidia-smi", "-L").stdout.splitlines()) == 7


@pytest.fixture
def job(hosts):
    """Run a collective as Slurm does, with one task on each node; return rank 0's process."""

    def run(*arguments, tool="all_reduce_perf_mpi", **environment):
        for number, host in enumerate(hosts):
            slurm = {"SLURM_PROCID": number, "SLURM_LOCALID": 0, "SLURM_NTASKS": len(hosts), "SLURM_JOB_ID": 4711}
            host.environment.update({name: str(value) for name, value in {**slurm, **environment}.items()})
        others = [host.run(tool, "-g", "8", *arguments) for host in hosts[1:]]
        assert [(it.stdout, it.stderr, it.returncode) for it in others] == [("", "", 0)] * len(others)
        return hosts[0].run(tool, "-g", "8", *arguments)

    return run


RING = {"NCCL_ALGO": "Ring", "NCCL_IB_TC": "106", "NCCL_IB_GID_INDEX": "3"}
WHOLE = 400 * 0.99 * 4096 / 4178 * 0.95


@pytest.mark.parametrize(
    ("rail", "options", "environment", "rate"),
    [
        ({}, (), {}, WHOLE),
        ({"percent": 50}, (), {"NCCL_IB_HCA": "=mlx5_1,mlx5_4"}, WHOLE / 4),
        # NCCL spreads its data evenly: one slow rail slows all of them down
        ({"percent": 50}, (), {}, WHOLE / 2),
        ({"percent": 50}, (), {"NCCL_TESTS_SPLIT": "MOD 8"}, WHOLE / 8 / 1.125),
        ({"percent": 50}, ("-a", "3"), {"NCCL_TESTS_SPLIT": "MOD 8"}, WHOLE / 16),
    ],
)
def test_nodes_of_a_job_measure_together(hosts, job, rail, options, environment, rate):
    plant(hosts[1], rails={"rail5": rail})
    assert bus(job(*options, **RING, **environment)) == pytest.approx(rate, rel=0.012)


def test_a_rail_without_a_link_is_left_out_and_a_dead_one_ends_the_job(hosts, job):
    (hosts[2].directory / "sys/class/net/rail0/operstate").write_text("down\n")
    assert bus(job(**RING)) == pytest.approx(WHOLE * 7 / 8, rel=0.012)
    plant(hosts[1], rails={"rail5": {"dead": True}})
    failed = job(**RING)
    assert (failed.returncode, "packets to a peer are lost" in bus(failed)) == (3, True)


def test_a_rank_that_dies_leaves_half_a_file(hosts):
    file = hosts[0].root / "report.json"
    hosts[0].device("proof").add_fault("all_reduce_perf", "die")
    done = hosts[0].run("all_reduce_perf", *ALONE, "-J", file)
    assert (done.returncode, "a rank died" in values(nccl_text.measures("", "", 1, "", "", file.read_text()))[0]) == (
        -9,
        True,
    )
