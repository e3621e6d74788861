# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node with instances of GPUs: real slurmd, NVIDIA's own tool, an emulated library. The tests build on each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from lab.hosts.paths import REPOSITORY, Paths
from tests.running import Lab, Run
from tests.stack import lab as machine
from tests.waiting import until

OWN = REPOSITORY / "molecule/gpus/inventory"
NODE, STATE = "slice01", "/run/emulated-nvml/state"
GRES = "gpu:1g.10gb:14,gpu:3g.40gb:2,gpu:h100:1"
LOSE = f"sed -i '/^[cg]i 2 /d' {STATE}"
"""GPU 2 loses its instances, as after a reset."""
DIVIDE = "divide GPU 2 into 3g.40gb: 2 (it has none)"
LONG_S = 600


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab(Paths.of(), (str(OWN),))


def steps(run: Run, host: str = NODE) -> list[str]:
    """The steps of a run that ended well, on one host."""
    assert run.code == 0, run.output
    return [step for (_task, at), done in run.steps().items() if at == host for step in done]


def said(run: Run, key: str) -> list[str]:
    """What layers of the node said under one key of their results."""
    seen = [layer for _task, host, result in run.results() if host == NODE for layer in result.get("layers", [result])]
    texts = [layer[key] for layer in seen if layer.get(key)]
    return [line for text in texts for line in ([text] if isinstance(text, str) else text)]


def node(lab: Lab) -> str:
    return lab.ssh("ctl", f"scontrol --oneliner show node {NODE}")


def is_idle(lab: Lab) -> bool:
    return " State=IDLE " in node(lab)


def instances(lab: Lab) -> list[str]:
    return re.findall(r"  MIG (\S+) ", lab.ssh(NODE, "nvidia-smi -L"))


def job(lab: Lab, gres: str) -> str:
    """Number of a job that prints its devices, and runs until it is cancelled."""
    words = "sbatch --parsable -p slices --chdir=/tmp --output=/tmp/%j.out"
    script = "#!/bin/sh\necho $CUDA_VISIBLE_DEVICES\nexec sleep infinity\n"
    return lab.ssh("login1", f"runuser -u ada -- {words} --gres={gres}", stdin=script).strip()


def end(lab: Lab, *jobs: str) -> None:
    lab.ssh("ctl", f"scancel {' '.join(jobs)}")
    until(lambda: not lab.ssh("ctl", "squeue --noheader"), LONG_S, "no job is left")


def test_nodes_have_what_their_classes_say(lab: Lab) -> None:
    counted = {part.rpartition(":")[0]: part.rpartition(":")[2] for part in GRES.split(",")}
    shown = re.sub(r"[(]S:[0-9,-]+[)]", "", node(lab))
    (gres,) = re.findall(r" Gres=(\S+)", shown)
    assert {part.rpartition(":")[0]: part.rpartition(":")[2] for part in gres.split(",")} == counted
    assert is_idle(lab)
    assert sorted(instances(lab)) == ["1g.10gb"] * 14 + ["3g.40gb"] * 2
    assert " Gres=gpu:h100:4(S:0-1) " in lab.ssh("ctl", "scontrol --oneliner show node gpu01")


def test_a_second_run_only_reads(lab: Lab) -> None:
    run = lab.playbook("slurm")
    assert run.code == 0, run.output
    assert (run.changed(), run.steps()) == ([], {})


def test_each_job_has_an_instance_of_its_own(lab: Lab) -> None:
    jobs = [job(lab, "gpu:3g.40gb:1"), job(lab, "gpu:3g.40gb:1"), job(lab, "gpu:1g.10gb:1")]
    outputs = " ".join(f"/tmp/{number}.out" for number in jobs)
    devices = until(
        lambda: len(found := lab.ssh(NODE, f"cat {outputs} 2>/dev/null || true").split()) == 3 and found,
        LONG_S,
        "all run",
    )
    assert len(set(devices)) == 3 and all(device.startswith("MIG-") for device in devices)
    mapped = lab.ssh(NODE, "cd /run/drawbridge/job-mapping; grep . *").split()
    assert sorted(line.partition(":")[2] for line in mapped) == sorted(jobs)
    assert sorted(line.partition(".")[0] for line in mapped)[1:] == ["2", "2"], "both large instances are of GPU 2"
    end(lab, *jobs)


def test_a_boot_divides_the_gpus_again_before_slurmd_starts(lab: Lab) -> None:
    machine("power-cut", NODE)
    machine("up", NODE)
    until(lambda: is_idle(lab), LONG_S, "the node is back")
    assert len(instances(lab)) == 16
    started = "systemctl show --property=ActiveEnterTimestampMonotonic --value"
    divided, slurmd = (int(lab.ssh(NODE, f"{started} {unit}")) for unit in ("drawbridge-gpu-instances", "slurmd"))
    assert 0 < divided < slurmd
    assert "divide GPU 0 into 1g.10gb: 7" in lab.ssh(NODE, "journalctl -b -u drawbridge-gpu-instances")


def test_lost_instances_drain_the_node_and_wait_for_its_jobs(lab: Lab) -> None:
    number = job(lab, "gpu:1g.10gb:1")
    until(lambda: lab.ssh("ctl", f"squeue --noheader --format=%T -j {number}").strip() == "RUNNING", LONG_S, "it runs")
    lab.ssh(NODE, LOSE)
    until(lambda: "DRAIN" in node(lab), LONG_S, "the health check has seen it")
    assert "GPU 2 has 0 instances of 3g.40gb instead of 2" in node(lab)
    run = lab.playbook("slurm", "--limit", f"ctl,{NODE}")
    assert run.code != 0, "the node is not sound, and no run says that it is"
    assert [step for step in said(run, "pending") if step.startswith(f"{DIVIDE}: Slurm job {number} is on this node")]
    assert len(instances(lab)) == 14
    end(lab, number)


def test_a_tool_that_succeeds_without_effect_is_a_failure(lab: Lab) -> None:
    lab.ssh(NODE, f"echo 'fault 2 lie' >> {STATE}")
    run = lab.playbook("slurm", "--limit", f"ctl,{NODE}")
    assert run.code != 0
    assert [text for text in said(run, "msg") if "nvidia-mig-parted reported success, but the GPUs differ" in text]
    lab.ssh(NODE, f"sed -i '/^fault/d' {STATE}")


def test_a_run_restores_instances_and_the_node(lab: Lab) -> None:
    predicted = steps(lab.playbook("slurm", "--limit", f"ctl,{NODE}", "--check"))
    assert DIVIDE in predicted
    assert DIVIDE in steps(lab.playbook("slurm", "--limit", f"ctl,{NODE}"))
    # the health check lifts its own drain when slurmd starts
    until(lambda: is_idle(lab), LONG_S, "the node is idle")
    assert len(instances(lab)) == 16


def test_gpus_become_whole_when_the_layout_leaves_the_intent(lab: Lab, tmp_path: Path) -> None:
    lab.ssh("ctl", f"scontrol update nodename={NODE} state=drain reason='new layout'")
    content = yaml.safe_load((OWN / "group_vars/all/nodes.yml").read_text())
    del content["drawbridge_nodes"]["classes"]["slices"]["gpus"]["mig"]
    (tmp_path / "group_vars/all").mkdir(parents=True)
    (tmp_path / "group_vars/all/nodes.yml").write_text(yaml.safe_dump(content))
    (tmp_path / "hosts.yml").write_text("all: {}\n")
    whole = Lab(Paths.of(), (str(OWN), str(tmp_path)))
    done = steps(whole.playbook("slurm"))
    assert [step for step in done if step.startswith("make GPU")] == [
        *(f"make GPU {gpu} whole (it has 1g.10gb: 7)" for gpu in (0, 1)),
        "make GPU 2 whole (it has 3g.40gb: 2)",
    ]
    assert instances(lab) == [] and "Gres=gpu:h100:4" in node(lab)
    assert (
        lab.ssh(NODE, "ls /etc/systemd/system/slurmd.service.d /etc/drawbridge | grep -c instances || true").strip()
        == "0"
    )
    assert whole.playbook("slurm").steps() == {}
