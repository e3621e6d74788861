# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The plan of a node's GPUs, as a function of what they are and what they should be."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.instances_plan import (
    GpuInstances,
    NodeInstances,
    goals,
    plan,
    wanted,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendor import Mode

from tests.unit.module_utils.steps import after

ON, OFF, HALF = Mode(True, True), Mode(), {"3g.40gb": 2}
WHOLE, DIVIDED = GpuInstances(), GpuInstances(HALF, ON)
BOTH = wanted([{}, HALF])
RESTART = "restart slurmd.service, which started before the GPUs were divided"


def sentences(have: NodeInstances, want: NodeInstances) -> list[str]:
    return [step.reason for step in plan(have, want)]


def test_a_step_for_each_gpu_that_differs() -> None:
    have = NodeInstances((GpuInstances({"7g.80gb": 1}, ON), WHOLE))
    assert sentences(have, BOTH) == [
        "make GPU 0 whole (it has 7g.80gb: 1)",
        "divide GPU 1 into 3g.40gb: 2 (it has none)",
    ]
    assert [step.disturbs for step in plan(have, BOTH)] == [True, True]
    assert sentences(NodeInstances((WHOLE, DIVIDED)), BOTH) == []


STATES = [*product(({}, HALF, {"1g.10gb": 7}), (ON, OFF)), ({}, Mode(False, True)), ({}, Mode(possible=False))]


@pytest.mark.parametrize(("first", "second"), [*product(range(len(STATES)), repeat=2)])
@pytest.mark.parametrize("slurmd", [True, False])
def test_after_the_steps_only_what_a_person_does_is_left(first: int, second: int, slurmd: bool) -> None:
    """Whatever the GPUs are. One that can't be divided is refused."""
    gpus = tuple(GpuInstances(*STATES[at]) for at in (first, second))
    have = NodeInstances(gpus, "other.service", runs_slurmd=slurmd, stays_whole="keep {gpu}")
    for layouts in ([{}, HALF], [HALF, HALF], []):
        steps = plan(have, wanted(layouts))
        left = plan(after([step for step in steps if not step.pending], have), wanted(layouts))
        assert all(step.pending == "on the drained node run keep 0" for step in left if "GPU 0" in step.reason)
        assert all(step.pending for step in left)
        refused = [step.refused for step in steps if step.refused]
        impossible = [at for at, gpu in enumerate(gpus) if not gpu.mode.possible and layouts and layouts[at]]
        assert refused == [f"GPU {at} can't be divided; correct gpus of its class" for at in impossible]
        assert (steps[-1].reason == RESTART) == (slurmd and any(step.payload == ("divide", "") for step in steps))


def test_without_layouts_all_gpus_of_the_node_are_whole() -> None:
    have = NodeInstances((WHOLE, DIVIDED, WHOLE))
    assert wanted([]) == wanted([{}, {}]) == NodeInstances(())
    assert sentences(have, wanted([])) == ["make GPU 1 whole (it has 3g.40gb: 2)"]
    assert goals(have, wanted([])) == [{}, {}, {}] and goals(have, BOTH) == [{}, HALF]


def test_a_gpu_that_is_divided_into_none_is_no_whole_one() -> None:
    have = NodeInstances((GpuInstances({}, ON), DIVIDED))
    assert sentences(have, BOTH) == ["make GPU 0 whole (it has none)"]
    assert have.lines() == ["GPU 0: divided into none", "GPU 1: 3g.40gb: 2"]


def test_a_whole_gpu_whose_next_reset_divides_it_is_a_persons() -> None:
    have = NodeInstances((GpuInstances({}, Mode(False, True)), DIVIDED), stays_whole="tool {gpu}")
    [step] = plan(have, BOTH)
    assert (step.reason, step.pending) == ("keep GPU 0 whole at its next reset", "on the drained node run tool 0")


def test_with_a_gpu_too_few_none_is_divided() -> None:
    """The others have changed their indices. The hardware check drains the node."""
    [step] = plan(NodeInstances((WHOLE,), "other.service", stale=True), BOTH)
    assert step.pending == "the driver lists 1 GPUs instead of 2"


def test_the_vendors_unit_is_disabled_first() -> None:
    have = NodeInstances((WHOLE, WHOLE), "other.service")
    assert sentences(have, BOTH)[0] == "disable other.service, which divides GPUs by a file of its own at each boot"
    assert not plan(have, BOTH)[0].disturbs


def test_slurmd_is_restarted_after_a_division_and_after_one_that_was_interrupted() -> None:
    runs = NodeInstances((WHOLE, WHOLE), runs_slurmd=True, held="a prolog runs")
    step = plan(runs, BOTH)[-1]
    assert (step.reason, step.disturbs, step.pending) == (RESTART, True, "a prolog runs")
    stale = replace(runs, gpus=(WHOLE, DIVIDED), stale=True, held="")
    [step] = plan(stale, BOTH)
    assert (step.reason, step.disturbs, step.pending) == (RESTART, False, "")
    assert stale.lines()[-1] == "slurmd.service with older instances"


def test_without_the_tool_nothing_is_divided() -> None:
    have = NodeInstances((WHOLE, WHOLE), missing="no tool")
    assert [step.refused for step in plan(have, BOTH)] == ["no tool"]
