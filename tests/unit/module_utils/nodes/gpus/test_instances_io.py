# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPUs of a host, divided by an emulated tool with the faults that the real one can have."""

from __future__ import annotations

import fcntl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed, Run
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    Outcome,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import use_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus import instances_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.instances_io import (
    Instances,
    Slurm,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.instances_plan import (
    plan,
    wanted,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import VENDORS

from tests.unit.module_utils.nodes.gpus.emulated_mig import MANAGER, SLURMD, Answer, Host, Killed

NVIDIA = VENDORS["nvidia"]
HALF = {"3g.40gb": 2}
BOTH = [{}, HALF]
DIVIDE = "divide GPU 1 into 3g.40gb: 2 (it has none)"
RESTART = "restart slurmd.service, which started before the GPUs were divided"
APPLY = "nvidia-mig-parted apply -f - -c drawbridge"
LIST = ["nvidia-smi", "--list-gpus"]


class Node:
    """A host, and runs of the layer on it. The run is killed after `kill_after` commands."""

    def __init__(self, folder: Path) -> None:
        self.host, self.stamp, self.lock = Host(folder), folder / "run/stamp", folder / "lock"
        self.kill_after, self.calls, self.installed = 0, 0, True

    def run(self, layouts: list[dict[str, int]] | None = None, check: bool = False) -> Outcome:
        want = wanted(BOTH if layouts is None else layouts)
        assert NVIDIA.divider
        device, slurm = Instances(NVIDIA, NVIDIA.divider, want, self.command, self.feed), Slurm(self.command, "gpu01")
        device.find, device.stamp, device.lock = self.find, str(self.stamp), str(self.lock)
        device.restarted = slurm.registered
        return converge(device, plan, want, check, in_use=slurm.in_use)

    def feed(self, text: str) -> Run:
        def run(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
            return self.command(argv, ok, text)

        return run

    def find(self, name: str) -> str:
        if not self.installed:
            raise DeviceError(f"{name} is not installed on this host")
        return f"/usr/bin/{name}"

    def command(self, argv: Sequence[str], ok: tuple[int, ...] = (0,), text: str = "") -> Completed:
        done = self.host.call(argv, text)
        self.calls += 1
        if done.rc < 0 or self.calls == self.kill_after:
            raise Killed
        if done.rc not in ok:
            said = (done.err or done.out).strip().splitlines()[-1]
            raise DeviceError(f"{argv[0]} failed: {said}", rc=done.rc, stdout=done.out, stderr=done.err)
        return Completed(*done)

    def arm(self, *faults: str) -> None:
        self.host.change(faults=list(faults))

    def asked(self) -> list[list[str]]:
        """Calls since the last time."""
        calls = self.host.state["calls"]
        self.host.change(calls=[])
        return calls


@pytest.fixture
def node(tmp_path: Path, monkeypatch: Any) -> Node:
    monkeypatch.setattr(use_io.shutil, "which", lambda name: name)
    monkeypatch.setattr(use_io.NodeUse, "pod", lambda self: "")
    return Node(tmp_path)


def test_check_predicts_the_run_and_the_next_run_reads(node: Node) -> None:
    predicted = node.run(check=True)
    assert (node.host.writes(), node.stamp.exists()) == ([], False)
    done = node.run()
    assert (done.error, done.steps, done.steps) == ("", predicted.steps, [DIVIDE, RESTART])
    assert done.diff == predicted.diff
    assert done.diff["after"] == "GPU 0: whole\nGPU 1: 3g.40gb: 2\n"
    assert node.host.instances() == [[], ["3g.40gb", "3g.40gb"]]
    assert node.host.writes() == [APPLY, "systemctl restart slurmd.service"]
    node.asked()
    again = node.run()
    assert (again.changed, again.steps) == (False, [])
    assert [argv[0] for argv in node.asked()] == ["nvidia-smi", "nvidia-smi", "systemctl", "systemctl"]


def test_where_nothing_is_divided_one_command_runs(node: Node) -> None:
    assert node.run([]).steps == []
    assert node.asked() == [LIST]


def test_a_run_waits_until_slurm_has_the_new_instances(node: Node, monkeypatch: Any) -> None:
    """By its configuration the node had registered with too few. The next task would find the old answer."""
    looks: list[float] = []

    def pause(seconds: float) -> None:
        looks.append(seconds)
        node.host.change(invalid=len(looks) < 3)

    monkeypatch.setattr(instances_io.time, "sleep", pause)
    node.host.change(invalid=True)
    assert node.run().error == ""
    assert len(looks) == 3
    node.host.change(invalid=True)
    monkeypatch.setattr(instances_io, "REGISTERS_S", 0.0)
    assert node.run([]).error == "", "another task says that it has not registered"


def test_a_layout_that_left_makes_gpus_whole(node: Node) -> None:
    node.run()
    done = node.run([])
    assert (done.error, done.steps) == ("", ["make GPU 1 whole (it has 3g.40gb: 2)", RESTART])
    assert node.host.instances() == [[], []]
    assert node.host.state["gpus"][1]["now"] is False
    assert node.run([]).steps == []


def test_a_layout_changes_and_other_gpus_keep_theirs(node: Node) -> None:
    node.run([{"7g.80gb": 1}, HALF])
    done = node.run([{"1g.10gb": 7}, HALF])
    assert (done.error, done.steps) == ("", ["divide GPU 0 into 1g.10gb: 7 (it has 7g.80gb: 1)", RESTART])
    assert node.host.instances() == [["1g.10gb"] * 7, ["3g.40gb"] * 2]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"job": "7"}, "Slurm job 7 is on this node; drain it and run this again"),
        ({"drained": False}, "Slurm may start jobs on gpu01; drain it first"),
    ],
)
def test_a_node_that_is_not_drained_waits(node: Node, changes: dict[str, Any], why: str) -> None:
    node.host.change(**changes)
    done = node.run()
    assert (done.error, done.steps, node.host.writes()) == ("", [], [])
    assert [text.startswith(f"{reason}: {why}") for text, reason in zip(done.pending, [DIVIDE, RESTART])] == [True] * 2
    node.host.change(job="", drained=True)
    assert node.run().steps == [DIVIDE, RESTART]


def test_a_node_whose_slurmd_does_not_run_needs_no_drain(node: Node) -> None:
    """Before its first start Slurm's commands have no configuration, so none is called."""
    node.host.set_unit(SLURMD, active=False)
    node.host.change(drained=False, steps=True)
    assert node.run().pending == [f"{DIVIDE}: a Slurm job is on this node, although slurmd does not run"]
    node.host.change(steps=False)
    node.asked()
    assert node.run().steps == [DIVIDE]
    assert not {"squeue", "scontrol"} & {argv[0] for argv in node.asked()}


def test_a_job_s_pod_keeps_its_instances(node: Node, monkeypatch: Any) -> None:
    monkeypatch.setattr(use_io.NodeUse, "pod", lambda self: "a job's pod is on this node")
    for active in (True, False):
        node.host.set_unit(SLURMD, active=active)
        assert node.run().pending[0] == f"{DIVIDE}: a job's pod is on this node"


def test_the_vendors_unit_is_disabled(node: Node) -> None:
    node.host.set_unit(MANAGER, enabled=True)
    node.host.change(job="7")
    done = node.run()
    assert done.steps == [f"disable {MANAGER}, which divides GPUs by a file of its own at each boot"]
    assert node.host.writes() == [f"systemctl disable {MANAGER}"]
    assert node.run().steps == []


def test_without_the_tool_the_refusal_names_its_package(node: Node) -> None:
    node.installed = False
    for check in (True, False):
        refused = node.run(check=check)
        assert refused.error.startswith("nvidia-mig-parted is not installed on this host; install NVIDIA's package")
        assert "nvidia-mig-manager" in refused.error
    node.host.set_gpu(1, *["3g.40gb"] * 2)
    assert node.run().error == "", "GPUs that have their instances need no tool"


def test_a_gpu_that_can_not_be_divided_is_refused(node: Node) -> None:
    node.host.set_gpu(1, capable=False)
    assert node.run().error == "GPU 1 can't be divided; correct gpus of its class"
    assert node.run([HALF, {}]).error == "", "the other one can"


HELD = "a program holds a GPU, so it can't be divided; stop it (nvidia-dcgm, dcgm-exporter or a device plugin may"
BOOT = "reboot the drained node: its boot divides the GPUs before other programs open them"


@pytest.mark.parametrize(
    ("faults", "error"),
    [
        (["refuse"], f"{HELD} hold one), or {BOOT} ("),
        (["lie"], "nvidia-mig-parted reported success, but the GPUs differ by its own check: "),
        (["delete"], "nvidia-mig-parted reported success, but the GPUs differ by its own check: "),
        (["wait"], f"the mode of GPU 0, 1 changes at its next reset only; {BOOT} ("),
    ],
)
def test_a_fault_is_said_with_its_cause_and_the_next_run_finishes(node: Node, faults: list[str], error: str) -> None:
    node.host.set_gpu(0, "7g.80gb")
    first = "make GPU 0 whole (it has 7g.80gb: 1)"
    # all tries meet it
    node.arm(*faults * 3)
    done = node.run()
    assert done.error.startswith(error)
    assert done.steps == [first, DIVIDE, RESTART]
    assert DIVIDE in done.left
    node.arm()
    rest = node.run()
    assert (rest.error, rest.steps) == ("", done.left)
    assert (node.host.instances(), node.run().steps) == ([[], ["3g.40gb"] * 2], [])


def test_after_a_mode_that_waits_the_boot_divides(node: Node) -> None:
    node.arm("wait")
    assert "at its next reset only" in node.run().error
    assert node.host.writes() == [APPLY], "each try would reset the GPUs"
    node.host.boot()
    node.stamp.unlink()
    assert node.run().steps == [DIVIDE]


def test_a_profile_that_the_gpu_lacks_is_no_success(node: Node) -> None:
    """The tool deletes all instances of the GPU and says that it succeeded."""
    node.run()
    done = node.run([{}, {"3g.20gb": 2}])
    assert done.error.startswith("nvidia-mig-parted reported success, but the GPUs differ by its own check")
    assert done.left == ["divide GPU 1 into 3g.20gb: 2 (it has none)", RESTART]
    assert node.run().error == ""


def test_a_layout_without_room_is_no_success(node: Node) -> None:
    assert "all orderings failed" in node.run([{}, {"3g.40gb": 3}]).error


def test_parts_of_a_killed_call_take_a_second_one(node: Node) -> None:
    """The tool stumbles over GPU instances without compute instances, and removes them."""
    node.host.set_gpu(1, now=True, later=True, parts=1)
    done = node.run()
    assert (done.error, done.steps) == ("", [DIVIDE, RESTART])
    assert node.host.writes().count(APPLY) == 2


def test_a_tool_that_lied_about_whole_gpus_is_found_by_the_next_run(node: Node) -> None:
    """The list does not show a mode without instances. After a division the next runs look, until a boot."""
    node.run()
    node.host.set_gpu(1, instances=[])
    done = node.run([])
    assert (done.error, done.steps) == ("", ["make GPU 1 whole (it has none)", RESTART])


@pytest.mark.parametrize("text", ["a list", "a mode"])
def test_unknown_texts_are_errors_and_never_fine(node: Node, text: str, monkeypatch: Any) -> None:
    if text == "a list":
        node.arm("text")
    else:
        gpus = node.host.state["gpus"]
        node.host.change(gpus=[*gpus[:1], {**gpus[1], "now": True}])
        monkeypatch.setattr("tests.unit.module_utils.nodes.gpus.emulated_mig.Tools._modes", lambda self: ODD)
    with pytest.raises(DeviceError, match="printed an unknown line: "):
        node.run()
    assert node.run([]).error == "", "where no instance is wanted, the hardware check reports other lines"


ODD = Answer(0, "0, Disabled, Disabled\n1, [Unknown Error], Enabled\n", "")


def test_a_lost_gpu_is_left_to_the_hardware_check(node: Node) -> None:
    node.host.set_gpu(0, lost=True)
    assert node.run().pending == [
        "compare the instances of GPUs with the class: the driver lists 1 GPUs instead of 2",
    ]
    assert node.host.writes() == []
    assert node.run([]).steps == []


def test_a_prolog_that_runs_keeps_slurmd(node: Node) -> None:
    node.run()
    node.host.set_unit(SLURMD, started=0.0)
    with node.lock.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = node.run()
        assert (done.steps, done.pending[0].startswith(f"{RESTART}: a prolog or epilog is running")) == ([], True)
    assert node.run().steps == [RESTART]


@pytest.mark.parametrize("layouts", [BOTH, []], ids=["divide", "make whole"])
def test_a_run_that_is_killed_after_any_command_is_finished_by_the_next(node: Node, layouts: list[Any]) -> None:
    """slurmd has then started after the last change of the GPUs."""
    killed = 0
    while True:
        killed += 1
        node.host.boot()
        node.stamp.unlink(missing_ok=True)
        node.host.set_gpu(0, "7g.80gb")
        node.host.set_gpu(1, *([] if layouts else ["3g.40gb"] * 2))
        node.host.set_unit(SLURMD, active=True)
        node.host.set_unit(MANAGER, enabled=True)
        node.calls, node.kill_after = 0, killed
        try:
            node.run(layouts)
        except Killed:
            pass
        else:
            break
        divided = any(line == APPLY for line in node.host.writes())
        node.kill_after = 0
        done = node.run(layouts)
        assert (done.error, node.run(layouts).steps) == ("", [])
        assert node.host.instances() == [[], ["3g.40gb"] * 2 if layouts else []]
        assert not node.host.state["units"][MANAGER]["enabled"]
        assert not divided or "systemctl restart slurmd.service" in node.host.writes()
    assert killed > 8


def test_a_tool_that_is_killed_between_two_gpus_is_run_again(node: Node) -> None:
    node.arm("die")
    with pytest.raises(Killed):
        node.run([HALF, HALF])
    assert node.host.instances() == [["3g.40gb"] * 2, []]
    done = node.run([HALF, HALF])
    assert (done.error, done.steps) == ("", [DIVIDE, RESTART])
    assert node.host.instances() == [["3g.40gb"] * 2] * 2


def test_at_a_boot_slurmd_must_not_run(node: Node) -> None:
    slurm = Slurm(node.command, "gpu01")
    assert slurm.at_boot() == "slurmd.service runs; drain the node and run the playbook"
    node.host.boot()
    assert slurm.at_boot() == ""
    node.host.change(steps=True)
    assert slurm.at_boot() == "a Slurm job is on this node, although slurmd does not run"
