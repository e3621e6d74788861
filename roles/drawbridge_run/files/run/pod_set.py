# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What is known of a workload's pods, and what follows from it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from . import pods
from .pods import Json, Pod, Trouble


class PodSet:
    """The pods of one workload, one a node, in the order in which their ends were heard of."""

    def __init__(self, nodes: Sequence[str], memory: str) -> None:
        """`memory` is what a pod may use."""
        self._nodes, self._memory = nodes, memory
        self._pods: dict[str, Pod] = {}
        self._deleted: Trouble | None = None

    @property
    def pods(self) -> list[Pod]:
        """All of them."""
        return list(self._pods.values())

    @property
    def over(self) -> bool:
        """None has anything left to do."""
        return all(pod.over for pod in self._pods.values())

    @property
    def well(self) -> bool:
        """All have done what they should."""
        return len(self._pods) == len(self._nodes) and all(pod.over and not pod.failed for pod in self._pods.values())

    @property
    def running(self) -> bool:
        """All have begun."""
        return len(self._pods) == len(self._nodes) and all(pod.begun for pod in self._pods.values())

    @property
    def summary(self) -> str:
        """One line of progress."""
        return pods.summary(self._pods.values(), len(self._nodes))

    def keep(self, names: Iterable[str]) -> list[Pod]:
        """Forget pods that are not on a full list; those that it misses were deleted while nobody looked."""
        return [self.lose(name) for name in set(self._pods) - set(names)]

    def note(self, item: Json) -> Pod:
        """Take in a Pod object. An end is an end, whatever is said of it later."""
        pod = pods.read(item, self._nodes)
        before = self._pods.get(pod.name)
        if before and before.over:
            return before
        if pod.over:
            self._pods.pop(pod.name, None)
        self._pods[pod.name] = pod
        return pod

    def lose(self, name: str) -> Pod:
        """A pod is gone. One without an end of its own was ended by others."""
        pod = self._pods[name]
        if not pod.over:
            del self._pods[name]
            self._deleted = self._deleted or Trouble(f"{pod.label} was deleted by others", final=True)
        return pod

    def of_rank(self, rank: int) -> Pod | None:
        """The pod of a rank, if it is there."""
        return next((pod for pod in self._pods.values() if pod.rank == rank >= 0), None)

    def trouble(self) -> Trouble | None:
        """The first failure, or else what keeps a pod from running: first what nobody needs to wait for."""
        if failed := pods.first_failure(self._pods.values()):
            return pods.trouble(failed, self._memory)
        found = [it for pod in self._pods.values() if (it := pods.trouble(pod, self._memory))]
        final = [it for it in (self._deleted, *found) if it and it.final]
        return next(iter([*final, *found]), None)
