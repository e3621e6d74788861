# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.jobs_layer import (
    JOBS,
    used_by_jobs,
)


class Squeue:
    """squeue with some output; None: it fails."""

    def __init__(self, out: str | None) -> None:
        self.out, self.calls = out, list[list[str]]()

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        self.calls.append([*argv])
        if self.out is None:
            raise DeviceError("squeue failed: Unable to contact slurm controller (connect failure)")
        return Completed(0, self.out, "")


def test_one_call_reads_the_jobs_of_all_accounts() -> None:
    squeue = Squeue("17|RUNNING|bio\n18|PENDING|med\n19|COMPLETING|bio\n")
    found = used_by_jobs(squeue, ["bio", "med", "old"])
    assert found == {"bio": "job 19 of it is COMPLETING", "med": "job 18 of it is PENDING"}
    assert squeue.calls == [[*JOBS, "--account=bio,med,old"]]


def test_no_account_needs_no_call() -> None:
    squeue = Squeue(None)
    assert used_by_jobs(squeue, []) == {} and squeue.calls == []


def test_without_an_answer_all_are_used_by_jobs() -> None:
    found = used_by_jobs(Squeue(None), ["bio", "med"])
    assert found.keys() == {"bio", "med"}
    assert found["bio"].startswith("Slurm does not say which jobs it has: squeue failed")
