# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPUs of a node divided by NVIDIA's own nvidia-mig-parted, which loads an emulated NVML as the driver's library.

The unit tests emulate that program. Here it shows that it is as they say, also when it is killed at any change.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import (
    Command,
    Completed,
    Run,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import Outcome, converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.instances_io import Instances
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.instances_plan import (
    plan,
    wanted,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import VENDORS

from lab.emulators.nvml import build as library
from lab.emulators.nvml.state import H100, Fault, Gpu, State, parsed, shared, text
from lab.hosts.paths import Paths
from lab.tools import build as tools

pytestmark = pytest.mark.live

NVIDIA = VENDORS["nvidia"]
PROFILES = {0: "7g.80gb", 5: "4g.40gb", 9: "3g.40gb", 14: "2g.20gb", 15: "1g.20gb", 19: "1g.10gb"}
HALF = {"3g.40gb": 2}
BOTH = [{}, HALF]
DIVIDE = "divide GPU 1 into 3g.40gb: 2 (it has none)"
UNKNOWN_UNIT = "LoadState=not-found\nActiveState=inactive\nSubState=dead\nUnitFileState=\n"
MODES = ("Disabled", "Enabled")
LIMIT_S = 120


class Node:
    """A node whose GPUs are those of the library's file."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.file = folder, folder / "state"
        self.reset()

    def reset(self, name: str = H100) -> None:
        """Make two whole GPUs."""
        gpus = [Gpu(at, f"00000000:1{at}:00.0", f"GPU-0000000{at}-0000-0000-0000-000000000000", "0-1") for at in (0, 1)]
        for gpu in gpus:
            gpu.name = name
        self.file.write_text(text(State(gpus)))

    def arm(self, *faults: Fault) -> None:
        """Replace the faults."""
        with shared(self.file) as state:
            state.faults = list(faults)

    def run(self, layouts: Sequence[Mapping[str, int]]) -> Outcome:
        """A run of the layer."""
        assert NVIDIA.divider
        want = wanted(layouts)
        device = Instances(NVIDIA, NVIDIA.divider, want, self._command, self._feed)
        device.find, device.stamp, device.lock = _found, str(self._folder / "stamp"), str(self._folder / "lock")
        return converge(device, plan, want)

    @staticmethod
    def _feed(stdin: str) -> Run:
        program = str(library.HERE / "nvidia-mig-parted")

        def run(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
            return Command(LIMIT_S, stdin)([program, *argv[1:]], ok)

        return run

    def _command(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        """Be nvidia-smi on the library's file; no unit is installed."""
        if argv[0] == "systemctl":
            return Completed(0, f"{UNKNOWN_UNIT}InactiveExitTimestampMonotonic=0\n", "")
        state, lines = parsed(self.file.read_text()), []
        for index, gpu in enumerate(state.gpus):
            if list(argv) != list(NVIDIA.listing):
                modes = [MODES[gpu.mode], MODES[gpu.pending]] if gpu.name == H100 else ["[N/A]"] * 2
                lines.append(f"{index}, {', '.join(modes)}")
                continue
            lines.append(f"GPU {index}: {gpu.name} (UUID: {gpu.uuid})")
            profiles = {it.id: PROFILES[it.profile] for it in state.instances if it.gpu == index}
            own = [it for it in state.computes if it.gpu == index]
            lines += [f"  MIG {profiles[it.instance]:<11} Device  {at}: (UUID: {it.uuid})" for at, it in enumerate(own)]
        return Completed(0, "".join(f"{line}\n" for line in lines), "")


def _found(name: str) -> str:
    return name


@pytest.fixture(scope="module")
def environment() -> Iterator[pytest.MonkeyPatch]:
    """The program and the library, built once."""
    cache = Paths.of().cache
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LD_LIBRARY_PATH", str(library.ensure(cache).parent))
        patch.setenv("MIG_PARTED", str(tools.ensure(cache, print, [tools.MIG_PARTED])["nvidia-mig-parted"]))
        yield patch


@pytest.fixture
def node(environment: pytest.MonkeyPatch, tmp_path: Path) -> Node:
    found = Node(tmp_path)
    (tmp_path / "dev").mkdir()
    environment.setenv("EMULATED_NVML", str(found.file))
    environment.setenv("EMULATED_NVML_DEV", str(tmp_path / "dev"))
    return found


def test_each_layout_takes_one_run(node: Node) -> None:
    assert os.environ["EMULATED_NVML"] == str(node.file)
    for layouts in (BOTH, [{"1g.10gb": 7}, HALF], [{"4g.40gb": 1, "2g.20gb": 1, "1g.10gb": 1}, {"1g.20gb": 4}], []):
        done = node.run(layouts)
        assert (done.error, done.left) == ("", [])
        assert (done.changed, node.run(layouts).changed) == (True, False)
    assert [gpu.mode for gpu in parsed(node.file.read_text()).gpus] == [0, 0]


@pytest.mark.parametrize("before", [[], [{}, {"7g.80gb": 1}]], ids=["from whole GPUs", "from another layout"])
def test_a_program_that_is_killed_at_any_change_is_made_up_for(node: Node, before: list[dict[str, int]]) -> None:
    """By the tries of the same run, or else by the next one."""
    changes = 0
    while True:
        node.reset()
        assert node.run(before).error == ""
        node.arm(Fault(1, "die", changes))
        node.run(BOTH)
        with shared(node.file) as state:
            died = not any(fault.word == "die" for fault in state.faults)
        node.arm()
        assert node.run(BOTH).error == ""
        assert node.run(BOTH).steps == []
        if not died:
            break
        changes += 1
    assert changes >= 4


def without_computes(state: State) -> None:
    state.computes = []


def resets_into_mig(state: State) -> None:
    state.gpus[0].pending = 1


@pytest.mark.parametrize(
    ("change", "layouts", "pending"),
    [
        (without_computes, BOTH, []),
        (
            resets_into_mig,
            BOTH,
            ["keep GPU 0 whole at its next reset: on the drained node run nvidia-smi -i 0 -mig 0"],
        ),
    ],
)
def test_states_that_others_left(
    node: Node, change: Callable[[State], None], layouts: list[dict[str, int]], pending: list[str]
) -> None:
    """GPU instances without compute instances make the first call fail. One other mode sets all of them."""
    if not pending:
        node.run(layouts)
    with shared(node.file) as state:
        change(state)
    done = node.run(layouts)
    assert (done.error, done.steps, done.pending) == ("", [DIVIDE], pending)
    assert (node.run(layouts).steps, node.run(layouts).pending) == ([], [])


@pytest.mark.parametrize(
    ("layouts", "error"),
    [
        ([{}, {"3g.20gb": 2}], "nvidia-mig-parted reported success, but the GPUs differ by its own check"),
        ([{}, {"3g.40gb": 3}], "all orderings failed"),
    ],
)
def test_a_layout_that_the_gpu_can_not_have_is_no_success(
    node: Node, layouts: list[dict[str, int]], error: str
) -> None:
    assert error in node.run(layouts).error
    assert node.run(BOTH).error == ""


def test_a_gpu_that_a_program_holds_keeps_its_mode_and_the_boot_is_named(node: Node) -> None:
    node.arm(Fault(1, "refuse"))
    done = node.run(BOTH)
    assert done.error.startswith("the mode of GPU 1 changes at its next reset only; reboot the drained node")
    node.arm()
    assert node.run(BOTH).error == ""
    node.arm(Fault(1, "refuse"))
    assert node.run([{}, {"7g.80gb": 1}]).error.startswith("a program holds a GPU, so it can't be divided; stop it")


def test_success_without_effect_is_a_failure(node: Node) -> None:
    node.run(BOTH)
    node.arm(Fault(1, "lie"))
    done = node.run([{}, {"7g.80gb": 1}])
    assert done.error != "" and done.left == ["divide GPU 1 into 7g.80gb: 1 (it has 3g.40gb: 2)"]


def test_a_gpu_without_instances_is_refused(node: Node) -> None:
    node.reset("NVIDIA L40S")
    assert node.run(BOTH).error == "GPU 1 can't be divided; correct gpus of its class"
