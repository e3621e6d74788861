# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lines for PAM. From pam.d(5), pam_succeed_if(8) and Slurm's page on pam_slurm_adopt (24.11)."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.host_files.text import BEGIN
from .model import ADOPT

FOLDER = "/etc/pam.d"
SSHD = "sshd"
TIMERS = ("atd", "cron", "crond")
"""Programs that run a user's commands later, outside of jobs. A node has those that are installed."""
SYSTEM_USERS = "uid < 1000"
"""Accounts of the system, whose timed commands are the site's."""
MODULE = "pam_slurm_adopt.so"
MODULES = ("lib/security", "lib64/security", "usr/lib/security", "usr/lib64/security", "usr/lib/*/security")
"""Folders of PAM's modules below the root, as patterns."""
LOGIND = "systemd-logind.service"
LINK = f"/etc/systemd/system/{LOGIND}"
"""Masks it. pam_systemd asks it for a session, which takes a login out of its job again."""


def sshd_lines(policy: str, name: str, admins: Sequence[str], groups: Sequence[str]) -> str:
    """For sshd. All doubts close: a job that is ending, a slurmd that does not answer, a module that is missing."""
    adopt = f"{MODULE} nodename={name} action_adopt_failure=deny action_generic_failure=deny"
    return _lines([_people(admins), *_groups(groups)], adopt if policy == ADOPT else "pam_deny.so")


def timer_lines(admins: Sequence[str], groups: Sequence[str]) -> str:
    """For programs of TIMERS."""
    return _lines([SYSTEM_USERS, _people(admins), *_groups(groups)], "pam_deny.so")


def is_first(text: str) -> bool:
    """Whether the block precedes all lines of the file that PAM reads: an earlier one can end the stack."""
    before = text.partition(BEGIN)[0]
    return BEGIN in text and not any(line.strip() and not line.lstrip().startswith("#") for line in before.splitlines())


def _people(admins: Sequence[str]) -> str:
    return f"user in {':'.join(['root', *admins])}"


def _groups(groups: Sequence[str]) -> list[str]:
    return [f"user ingroup {group}" for group in groups]


def _lines(conditions: Sequence[str], last: str) -> str:
    """Who meets a condition goes past the last line."""
    skips = range(len(conditions), 0, -1)
    passes = [
        f"account [success={skip} default=ignore] pam_succeed_if.so quiet {condition}\n"
        for skip, condition in zip(skips, conditions)
    ]
    return "".join([*passes, f"account requisite {last}\n"])
