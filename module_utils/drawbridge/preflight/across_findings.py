# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Findings from the comparison of hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from .model import EXISTING, GPUS, NAMES, REACH, Answer, Finding, Found

CLOCK_S = 2.0
"""Logs, tokens and accounting need less difference between clocks than munge, which allows 300 s."""

TABLE = (
    Finding(
        "unreachable",
        REACH,
        "Ansible can't log in to a host, or a switch has no SSH server",
        "a run fails on this host, and nothing else is known of it",
        "repair the address, the login or the host key",
    ),
    Finding(
        "clock_off",
        NAMES,
        f"a host's clock differs by more than {CLOCK_S:g} s from most hosts",
        "munge refuses credentials, and certificates and tokens are not valid yet",
        "enable chrony on all hosts with the same servers",
    ),
    Finding(
        "uid_differs",
        NAMES,
        "a user has another uid or gid than on most hosts",
        "slurmctld refuses the node, and files belong to other users",
        "give the user one uid and gid on all hosts, as in the directory service",
    ),
    Finding(
        "user_missing",
        NAMES,
        "a user of an account exists on some hosts of Slurm, but not on this one",
        "the user's jobs fail here",
        "create the user with the same uid, or repair the directory service",
    ),
    Finding(
        "gpu_driver_differs",
        GPUS,
        "a node has another GPU driver than most nodes of its node class",
        "jobs of many nodes fail or are slow",
        "install one version on all nodes of the node class",
    ),
    Finding(
        "kubeconfig",
        EXISTING,
        "the kubeconfig is missing, or lacks a right that a run needs",
        "a run stops before it changes hosts",
        "export KUBECONFIG=FILE; an administrator gives its rights (docs/guides/kubernetes-rights.md)",
    ),
)


def across(answers: Sequence[Answer]) -> Iterator[Found]:
    """Findings of hosts that are compared with each other."""
    yield from (Found("unreachable", one.host, one.lost) for one in answers if one.lost)
    there = [one for one in answers if not one.lost]
    yield from _clocks([one for one in there if one.clock_s])
    yield from _users(there)
    yield from _drivers(there)


def _clocks(answers: Sequence[Answer]) -> Iterator[Found]:
    if not answers:
        return
    usual = median(sum(one.clock_s) / 2 for one in answers)
    for one in answers:
        low, high = one.clock_s
        # the true difference is between both
        off = low - usual if low > usual else min(0.0, high - usual)
        if abs(off) > CLOCK_S:
            yield Found("clock_off", one.host, f"its clock is {abs(off):.0f} s {'ahead' if off > 0 else 'behind'}")


def _users(answers: Sequence[Answer]) -> Iterator[Found]:
    known = [(one, one.facts["users"]) for one in answers if "users" in one.facts]
    for name in sorted({name for _unused, users in known for name in users}):
        numbers = Counter(tuple(users[name]) for _unused, users in known if name in users)
        usual = _usual(numbers)
        for one, users in known:
            if name not in users:
                if name in one.want["accounts"]:
                    yield Found("user_missing", one.host, f"user {name} does not exist")
            elif tuple(users[name]) != usual:
                shown = ":".join(map(str, users[name]))
                yield Found("uid_differs", one.host, f"user {name} is {shown}, elsewhere {':'.join(map(str, usual))}")


def _usual(numbers: Mapping[tuple[int, ...], int]) -> tuple[int, ...]:
    """The most frequent; of equally frequent ones the first."""
    return max(numbers, key=lambda key: numbers[key])


def _drivers(answers: Sequence[Answer]) -> Iterator[Found]:
    """GPU drivers, by node class."""
    known = [(one, one.facts["gpus"]["drivers"]) for one in answers if one.facts.get("gpus", {}).get("drivers")]
    for kind in sorted({one.want["class"] for one, _unused in known}):
        same = [(one, tuple(drivers)) for one, drivers in known if one.want["class"] == kind]
        usual = Counter(drivers for _unused, drivers in same).most_common(1)[0][0]
        for one, drivers in same:
            if drivers != usual:
                yield Found(
                    "gpu_driver_differs", one.host, f"GPU driver {' '.join(drivers)}, elsewhere {' '.join(usual)}"
                )
