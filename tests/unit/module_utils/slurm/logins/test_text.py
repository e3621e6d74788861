# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_files.text import with_block
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.logins.text import (
    is_first,
    sshd_lines,
    timer_lines,
)

ADMINS = (["ansible", "eve"], ["wheel", "hpc-ops"])


def test_admins_go_past_the_last_line_and_all_doubts_close() -> None:
    assert sshd_lines("adopt", "gpu01", *ADMINS).splitlines() == [
        "account [success=3 default=ignore] pam_succeed_if.so quiet user in root:ansible:eve",
        "account [success=2 default=ignore] pam_succeed_if.so quiet user ingroup wheel",
        "account [success=1 default=ignore] pam_succeed_if.so quiet user ingroup hpc-ops",
        "account requisite pam_slurm_adopt.so nodename=gpu01 action_adopt_failure=deny action_generic_failure=deny",
    ]


@pytest.mark.parametrize(
    ("lines", "first"),
    [(sshd_lines("closed", "gpu01", [], []), "user in root"), (timer_lines([], []), "uid < 1000")],
)
def test_where_no_job_adopts_all_others_are_refused(lines: str, first: str) -> None:
    assert first in lines.splitlines()[0]
    assert lines.splitlines()[-1] == "account requisite pam_deny.so"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (with_block("", "x\n") + "account required pam_nologin.so\n", True),
        ("#%PAM-1.0\n\n" + with_block("", "x\n"), True),
        ("account sufficient pam_localuser.so\n" + with_block("", "x\n"), False),
        ("@include common-account\n" + with_block("", "x\n"), False),
        ("account required pam_nologin.so\n", False),
    ],
)
def test_lines_before_the_block_could_end_the_stack(text: str, first: bool) -> None:
    assert is_first(text) is first
