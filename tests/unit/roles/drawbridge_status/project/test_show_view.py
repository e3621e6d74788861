# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One project in sentences."""

from __future__ import annotations

from typing import Any

from roles.drawbridge_status.files.project import show_view
from roles.drawbridge_status.files.project.model import Account, Seen, Site
from tests.unit.roles.drawbridge_status.project.project_scene import GIB, TIB, TODAY, seen

SITE = Site("lab", {"imagenet": "/gpfs/fs1/data/imagenet"}, {"allow": ["nvcr.io/nvidia"], "digests_only": True})


def rows(one: Seen, missing: str = "") -> dict[str, list[str]]:
    """Texts by name."""
    found: dict[str, list[str]] = {}
    name = ""
    for word, text in show_view._rows(one, SITE, TODAY, missing):
        name = word or name
        found.setdefault(name, []).append(text)
    return found


def test_everything() -> None:
    text = show_view.lines(seen(), SITE, TODAY, ["x"])
    assert text[:3] == ["project vision: open, ends 2027-03-31 (in 122 days)", "Note: x", ""]
    assert "What happens next:" in text and "  2026-12-01  the budget begins anew in 2 days" in "\n".join(text)
    shown = rows(seen())
    assert shown["people"] == ["ada, ben (2)"]
    assert shown["qos"] == ["project-vision, with the settings of normal"]
    assert shown["limits"] == ["all jobs 64 GPUs"]
    assert shown["budget"] == ["GPU hours 1 of 100 (1 %)", "begins anew each month, next on 2026-12-01"]
    assert shown["directory"] == ["/gpfs/fs1/projects/vision", "root:vision 2770"]
    assert (shown["space"], shown["files"]) == (["512 GiB of 1 TiB (50 %)"], ["250 k of 1 M (25 %)"])
    assert (shown["namespace"], shown["claims"]) == (["vision"], ["files"])
    assert shown["data sets"] == ["imagenet: /gpfs/fs1/data/imagenet, read-only"]
    assert shown["images"] == ["nvcr.io/nvidia, by digest only"]


def test_findings_come_first_with_the_next_step() -> None:
    text = show_view.lines(seen(TIB._replace(used=1000 * GIB)), SITE, TODAY)
    assert text[1:5] == ["", "space: 1000 GiB of 1 TiB (98 %).", "  next: delete files, or request a larger quota", ""]


def test_people_whom_private_data_hides() -> None:
    assert rows(seen()._replace(account=Account(None, ("ada",))))["people"] == ["ada (1); PrivateData hides others"]
    assert rows(seen()._replace(account=None, known=False))["people"] == ["not known"]
    assert rows(seen()._replace(account=None))["people"] == ["none"]
    many = tuple(f"u{number:02}" for number in range(30))
    assert rows(seen()._replace(account=Account("", many)))["people"][0].endswith("u19 and 10 more (30)")


def test_a_directory_that_differs_from_the_intent_or_shows_nothing() -> None:
    shown = rows(seen(TIB._replace(owner="ada", mode="0777")))
    assert shown["directory"][1] == "ada:vision 0777; the site declares root:vision 2770"
    assert rows(seen(None), "not seen on this host: x")["directory"][1] == "not seen on this host: x"
    closed = rows(seen(TIB._replace(group="root", mode="0500"), state="closed"))
    assert closed["directory"][1] == "root:root 0500" and len(closed["closed"]) == 2


def test_a_file_system_without_quotas() -> None:
    own: dict[str, Any] = {"path": "/nfs/vision", "mount": "/nfs"}
    assert rows(seen(directory=own))["space"] == ["without a limit of Drawbridge's"]
    shown = rows(seen(TIB._replace(total=1 << 50, files=0)))
    assert shown["files"][-1].startswith("df shows the whole file system there, not the quota")


def test_limits_in_words() -> None:
    one = seen(total={}, per_job={"nodes": 4, "memory_mib": 8}, jobs=3, submits=9, max_time="4:00:00", budget=None)
    assert rows(one)["limits"] == [
        "one job 4 nodes, 8 MiB of memory; 3 running jobs; 9 running and waiting jobs; "
        "4:00:00 as the longest time limit"
    ]
    assert rows(seen(total={}))["limits"] == ["none of its own"]
    assert "budget" not in rows(one)
    assert rows(seen(running=60, budget={"gpu_hours": 100}))["budget"] == [
        *("GPU hours 1 of 100 (1 %), 1 more may go to running jobs", "never begins anew")
    ]


def test_a_project_that_is_gone_has_no_account() -> None:
    one = seen(state="archived")._replace(account=None)
    shown = rows(one)
    assert "people" not in shown and shown["closed"][0].startswith("everything: it is archived")
    assert show_view.lines(one, SITE, TODAY)[0] == "project vision: archived"
