# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.explorer.hosts import Box, Contained
from tests.explorer.tools import containers

SPACE, POD = 'labels."io.kubernetes.pod.namespace"', 'labels."io.kubernetes.pod.name"'


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ((f"{SPACE}!=kube-system,{SPACE}!=guests",), "job"),
        ((f"{SPACE}!=kube-system", f"{SPACE}!=guests"), "dns job visitor"),
        ((f"{SPACE}==kube-system", f"{SPACE}==guests"), "dns visitor"),
        ((f'{SPACE}==vision,{POD}~="^slurm-7-"',), "job"),
        ((f'{SPACE}==vision,{POD}~="^slurm-71-"',), ""),
    ],
)
def test_a_comma_means_and_and_another_filter_means_or(filters: tuple[str, ...], expected: str) -> None:
    pods = {"dns": ("kube-system", "dns"), "job": ("vision", "slurm-7-r0"), "visitor": ("guests", "slurm-7-r0")}
    box = Box("gpu01", 0.0, containers={name: Contained(*pod, 1) for name, pod in pods.items()})
    assert containers(box, ["containers", "list", "--quiet", *filters]).out.split() == expected.split()


def test_a_filter_that_containerd_would_not_know_is_a_mistake() -> None:
    with pytest.raises(AssertionError, match="no filter"):
        containers(
            Box("gpu01", 0.0, containers={"a": Contained("b", "c", 1)}), ["list", "containers", "--quiet", "x=y"]
        )
