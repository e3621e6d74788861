# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Jobs of some accounts, read once for a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.command import Command, Run
from ...core.converge import DeviceError
from ...core.layer import Layer, Params, Work
from ...core.reading import Nothing, reading

SPEC: dict[str, Any] = {
    "accounts": {"type": "list", "elements": "str", "required": True},
    "timeout_s": {"type": "int", "default": 30},
}
JOBS = ("squeue", "--noheader", "--all", "--format=%A|%T|%a")


def used_by_jobs(run: Run, accounts: Sequence[str]) -> dict[str, str]:
    """Why accounts are in use, by account: a job, or that Slurm does not answer."""
    if not accounts:
        return {}
    try:
        out = run([*JOBS, f"--account={','.join(accounts)}"]).out
    except DeviceError as err:
        return dict.fromkeys(accounts, f"Slurm does not say which jobs it has: {err}")
    rows = (line.split("|", 2) for line in out.splitlines() if line.count("|") >= 2)
    found = {account: f"job {job} of it is {state}" for job, state, account in rows}
    return {account: found[account] for account in accounts if account in found}


def work(params: Params, check: bool) -> Work[Nothing]:
    """Ask slurmctld. That it does not answer is a result, and no failure."""
    del check
    run = Command(timeout_s=params["timeout_s"])

    def read() -> Mapping[str, Any]:
        found = used_by_jobs(run, params["accounts"])
        return {"busy": found, "warnings": [f"account {name} is in use: {why}" for name, why in found.items()]}

    return reading("Slurm", read)


SLURM_ACCOUNT_JOBS = Layer(SPEC, work)
