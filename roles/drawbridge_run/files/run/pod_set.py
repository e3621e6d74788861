# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""State of a workload's pods. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from . import pods
from .pods import Json, Pod, Trouble


class PodSet:
    """The pods of one workload, one a node, in the order in which their ends were reported."""

    def __init__(self, nodes: Sequence[str], memory: str) -> None:
        """`memory` is a pod's limit."""
        self._nodes, self._memory = nodes, memory
        self._pods: dict[str, Pod] = {}
        self._deleted: Trouble | None = None

    @property
    def pods(self) -> list[Pod]:
        """All pods."""
        return list(self._pods.values())

    @property
    def over(self) -> bool:
        """Whether all pods have ended."""
        return all(pod.over for pod in self._pods.values())

    @property
    def well(self) -> bool:
        """Whether all pods ended with code 0."""
        return len(self._pods) == len(self._nodes) and all(pod.over and not pod.failed for pod in self._pods.values())

    @property
    def running(self) -> bool:
        """Whether all pods have begun."""
        return len(self._pods) == len(self._nodes) and all(pod.begun for pod in self._pods.values())

    @property
    def summary(self) -> str:
        """One line of progress."""
        return pods.summary(self._pods.values(), len(self._nodes))

    def keep(self, names: Iterable[str]) -> list[Pod]:
        """Remove pods that a full list lacks: they were deleted during an interruption."""
        return [self.lose(name) for name in set(self._pods) - set(names)]

    def note(self, item: Json) -> Pod:
        """Store a Pod object. After a pod's end, later reports are ignored."""
        pod = pods.read(item, self._nodes)
        before = self._pods.get(pod.name)
        if before and before.over:
            return before
        if pod.over:
            self._pods.pop(pod.name, None)
        self._pods[pod.name] = pod
        return pod

    def lose(self, name: str) -> Pod:
        """Remove a deleted pod. If it had not ended, another client deleted it."""
        pod = self._pods[name]
        if not pod.over:
            del self._pods[name]
            self._deleted = self._deleted or Trouble(f"{pod.label} was deleted by others", final=True)
        return pod

    def of_rank(self, rank: int) -> Pod | None:
        """The pod of a rank, if it exists."""
        return next((pod for pod in self._pods.values() if pod.rank == rank >= 0), None)

    def trouble(self) -> Trouble | None:
        """The first failure, or else the reason why a pod does not run; final reasons first."""
        if failed := pods.first_failure(self._pods.values()):
            return pods.trouble(failed, self._memory)
        found = [it for pod in self._pods.values() if (it := pods.trouble(pod, self._memory))]
        final = [it for it in (self._deleted, *found) if it and it.final]
        return next(iter([*final, *found]), None)
