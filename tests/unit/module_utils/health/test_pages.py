# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which check a finding's text names, and which section explains it."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.pages import (
    CHECKS,
    OTHERS,
    UNKNOWN,
    check,
    heading,
    page,
    subject,
)


@pytest.mark.parametrize(
    ("text", "name", "about"),
    [
        ("rail3: rail link: mlx5_3 is down", "rail link", "rail3: rail link"),
        ("GPU 3: GPU memory errors: 3: uncorrected", "GPU memory errors", "GPU 3: GPU memory errors"),
        ("clock: it is 3.0 s off", "clock", "clock"),
        ("mc0: memory errors: 2", "memory errors", "mc0: memory errors"),
        ("/tmp: disk space: 97 % of its space are in use", "disk space", "/tmp: disk space"),
        ("GPUs present: not measured: clock: late", "GPUs present", "GPUs present"),
        # a check's name further in the text is of another program
        ("nhc: check_fs: rail link: down", "", "nhc"),
        ("60-passport: its passport is stale", "", "60-passport"),
        ("/fs1 is not mounted", "", "/fs1 is not mounted"),
        ("", "", ""),
    ],
)
def test_part_and_check_are_known_without_the_words_that_change(text: str, name: str, about: str) -> None:
    assert (check(text), subject(text)) == (name, about)


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("rail3: rail link: mlx5_3 is down", "rail link"),
        ("/fs1 is not mounted", "Mounts"),
        ("/fs1 is mounted, but stat does not answer", "Mounts"),
        ("munge: can't connect", "munge"),
        ("unmunge does not answer", "munge"),
        ("7 GPUs instead of 8", "Number of GPUs"),
        ("7 GPUs in the driver's list instead of 8", "Number of GPUs"),
        ("7 GPUs in the kernel's list instead of 8", "Number of GPUs"),
        ("no GPU at /dev/dri/renderD144", "Number of GPUs"),
        ("GPU 3 has 7 instances of 1g.10gb instead of 0", "Number of GPUs"),
        ("GPU 3: GPU instances: it has 7 instances, its class has none", "GPU instances"),
        ("current_compute_partition is CPX instead of SPX on 8 GPUs", "GPU partition modes"),
        ("60-passport: it has none", "Passport"),
        ("20-nic: mlx5_3 is not lossless", "Parts"),
        ("60-scratch does not answer", "Parts"),
        ("nhc: check_fs_mount:  /scratch not mounted", "NHC"),
        ("cordon: by kubectl-cordon", "Cordons"),
        ("GpuNvlinkWatch: link 3 is down", UNKNOWN),
        ("and 3 more", UNKNOWN),
        ("the munge is odd", UNKNOWN),
    ],
)
def test_a_finding_has_its_section(text: str, section: str) -> None:
    assert heading(text) == section
    assert page(text).partition("#")[2] == section.lower().replace(" ", "-")


def test_each_section_of_other_programs_is_reached() -> None:
    assert len({title for _pattern, title in OTHERS}) == len(OTHERS)
    assert not {title for _pattern, title in OTHERS} & {*CHECKS, UNKNOWN}
