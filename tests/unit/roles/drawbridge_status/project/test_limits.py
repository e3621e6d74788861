# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Numbers beside their limits, and numbers that are not those of the quota."""

from __future__ import annotations

import pytest

from roles.drawbridge_status.files.project import limits
from roles.drawbridge_status.files.project.limits import FILES, SPACE, Part
from tests.unit.roles.drawbridge_status.project.project_scene import GIB, TIB, seen


def test_space_and_files_of_a_fileset() -> None:
    one = seen()
    assert [part.text for part in limits.parts(one)] == [
        *("1 of 100 (1 %)", "512 GiB of 1 TiB (50 %)", "250 k of 1 M (25 %)")
    ]
    assert limits.elsewhere(one) == ""


@pytest.mark.parametrize(("total", "known"), [(1024, True), (1014, True), (1074, True), (1010, False), (1080, False)])
def test_a_size_near_the_quota_is_the_quota_and_another_is_that_of_the_file_system(total: int, known: bool) -> None:
    one = seen(TIB._replace(total=total * GIB))
    part = limits.space(one)
    assert part is not None and (part.used is not None) == known
    assert part.text == ("512 GiB of 1 TiB (50 %)" if known else "? of 1 TiB")
    assert bool(limits.elsewhere(one)) is not known


def test_without_a_limit_there_is_no_number() -> None:
    one = seen(directory={"path": "/nfs/vision", "mount": "/nfs"}, budget=None)
    assert limits.parts(one) == [] and limits.elsewhere(one) == ""


def test_a_directory_that_shows_nothing_has_its_limit_alone() -> None:
    assert [part.text for part in limits.parts(seen(None))[1:]] == ["? of 1 TiB", "? of 1 M"]


def test_the_budget_in_force_is_slurmctlds() -> None:
    [gpu] = limits.budget(seen(used=90))
    assert (gpu.limit, gpu.used, gpu.text) == (6000, 90, "1.5 of 100 (2 %)")
    declared = seen(budget={"gpu_hours": 7, "node_hours": 2})._replace(usage=None)
    assert [part.text for part in limits.budget(declared)] == ["? of 7", "? of 2"]


@pytest.mark.parametrize(("used", "full"), [(99, False), (100, True), (101, True), (None, False)])
def test_full(used: int | None, full: bool) -> None:
    assert Part(SPACE, 100, used).full is full


def test_a_limit_of_zero_is_used_up() -> None:
    assert (Part(FILES, 0, 0).percent, Part(FILES, 0, 0).full) == (100.0, True)


def test_sizes_and_counts_in_words() -> None:
    sizes = (512, 1 << 20, 1023 << 30, 1 << 50, 5000 << 50)
    assert [limits.size(it) for it in sizes] == ["0.5 KiB", "1 MiB", "1023 GiB", "1 PiB", "5000 PiB"]
    assert [limits.count(it) for it in (950, 12345, 4000000, 2 * 10**9)] == ["950", "12.3 k", "4 M", "2 G"]
