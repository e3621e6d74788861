# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Projects that begin, close, end, are archived, removed and open again, with runs that end at each of their changes.

A run that ends before a change leaves what one leaves that ends after the change before it, so each is tried once. A
tool that lies exits with 0 and has done nothing. After each of these runs, the next one does the rest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.layer import Layer
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.reading import reading

from tests.unit.projects.parts import Kill, Own, mm
from tests.unit.projects.world import AFTER, DAY, GROUP, LATER, LAYERS, LIES, Failed, Killed, World

Json = dict[str, Any]
KIB = 2 << 20
LIMITS = {"block": [KIB, KIB], "files": [4096, 4096]}
TOP = (0, 1, "2770")
"""Of root, of the group daemon."""
ALPHA: Json = {
    "name": "alpha",
    "users": ["ada"],
    "partitions": ["ai-train"],
    "budget": {"gpu_hours": 10},
    "directory": {"group": GROUP, "quota_gib": 2, "inodes": 4096, "pool": "data"},
    "claims": [{"name": "work"}],
}
BETA, GAMMA = {**ALPHA, "name": "beta"}, {**ALPHA, "name": "gamma", "state": "closed"}
ENDS: Json = {"ends": "2027-03-31"}
JOB = {7: ("alpha", "ada")}


SILENT = Layer({"accounts": {"type": "list"}}, lambda *_: reading("Slurm", dict))
"""A controller that did not answer: nothing is registered of it."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("w"))


@pytest.fixture
def world(built: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The site without projects."""
    built.install(monkeypatch)
    if "empty" not in built.kept:
        built.kept["empty"] = built.snapshot()
    built.restore(built.kept["empty"])
    return built


def intent(world: World, *projects: Json, **alpha: Any) -> Json:
    """alpha, which changes, an open project and a closed one; or other projects."""
    return {"filesystem": str(world.mount), "projects": [*(projects or ({**ALPHA, **alpha}, BETA, GAMMA))]}


def state_of(project: Json, day: str) -> str:
    return "closed" if project.get("ends", day) < day else project.get("state", "open")


@dataclass
class Safe:
    """What holds after each change of a run with an intent."""

    world: World
    wanted: Json
    delete: Collection[str] = ()
    still: Collection[str] = ()
    """Projects that the run has nothing to do with."""

    def __call__(self, what: str, before: Mapping[str, Own], after: Mapping[str, Own]) -> None:
        states = {it["name"]: state_of(it, self.world.day) for it in self.wanted["projects"]}
        for name, was in before.items():
            now, state = after[name], states.get(name, "")
            dies = state == "removed" and name in self.delete
            assert now.data == was.data or dies, f"{what}: {name} lost data"
            assert now.junction is not None or was.junction is None or dies, f"{what}: {name} was deleted"
            assert now.junction or not was.junction or state in ("archived", "removed"), f"{what}: {name} was unlinked"
            ready = (now.top, now.limits) == (TOP, LIMITS) and "SET POOL 'data'" in now.rule
            if now.reached and not was.reached:
                assert ready and state == "open", f"{what}: users reach {name} before its limits hold"
            if now.takes_jobs and not was.takes_jobs:
                assert ready and state == "open", f"{what}: {name} takes jobs before its directory is ready"
            if now.claims > was.claims:
                assert ready, f"{what}: {name} has claims before its directory is ready"
            if now.claims < was.claims or (was.reached and not now.reached):
                assert not now.takes_jobs, f"{what}: {name} still takes jobs"
            if was.reached and not now.reached:
                assert now.claims == 0, f"{what}: pods may still mount {name}"
            assert now == was or name not in self.still, f"{what}: it is about another project, and changed {name}"


def settle(world: World, wanted: Json, still: Collection[str] = (), **options: Any) -> Kill:
    """A run that does all, and one that finds nothing to do. Returns the changes of the first."""
    world.must_hold = Safe(world, wanted, options.get("project_delete", ()), still)
    run(world, wanted, **options)
    changes = world.kill
    again = run(world, wanted, **options)
    assert world.kill.count == 0 and not any(it.get("changed") for it in again), again
    world.must_hold = lambda *_: None
    return changes


def run(world: World, wanted: Json, kill: Kill | None = None, **options: Any) -> list[Json]:
    return world.run(wanted, kill, **{"project_default_pool": "system", **options})


def kill_each(world: World, wanted: Json, still: Collection[str] = ("beta", "gamma"), **options: Any) -> int:
    """From here to this intent, with a kill after each change, and a lie in place of each; each ends as a whole run."""
    start = world.snapshot()
    changes = settle(world, wanted, still, **options)
    expected, seen = world.end(), set[str]()
    kills = [*((AFTER, at) for at in range(1, changes.count + 1)), *((LIES, at) for at in changes.lies)]
    for how, at in kills:
        world.restore(start)
        world.must_hold = Safe(world, wanted, options.get("project_delete", ()), still)
        # a lie that a later command makes true is none
        with pytest.raises(Killed) if how == AFTER else contextlib.suppress(Failed):
            run(world, wanted, Kill(at, how), **options)
        if (left := repr(world.end())) not in seen:
            run(world, wanted, **options)
            assert world.end() == expected, f"{how} at change {at} of {changes.count}"
        seen.add(left)
    run(world, wanted, **options)
    assert world.end() == expected
    return changes.count


def write_data(world: World) -> None:
    """What people of the projects have written."""
    for name in ("alpha", "beta", "gamma"):
        path = Path(world.mount, "projects", name)
        if path.exists():
            (path / "data").write_text(f"results of {name}\n")


STEPS = {
    "made": ({}, {}),
    "closed": ({"state": "open"}, {"state": "closed"}),
    "ended": (ENDS, ENDS),
    "archived": ({"state": "open"}, {"state": "archived"}),
    "archived after it was closed": ({"state": "closed"}, {"state": "archived"}),
    "removed at once": ({"state": "open"}, {"state": "removed"}),
    "removed after it was archived": ({"state": "archived"}, {"state": "removed"}),
    "opened after it was closed": ({"state": "closed"}, {"state": "open"}),
    "opened after it was archived": ({"state": "archived"}, {"state": "open"}),
    "closed after it was archived": ({"state": "archived"}, {"state": "closed"}),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_run_that_is_killed_anywhere_loses_nothing_and_the_next_one_finishes(world: World, name: str) -> None:
    before, after = STEPS[name]
    others = intent(world, BETA, GAMMA)
    settle(world, others if name == "made" else intent(world))
    write_data(world)
    if name != "made":
        settle(world, intent(world, **before))
    world.day = LATER if name == "ended" else DAY
    removed = after.get("state") == "removed"
    changes = kill_each(world, intent(world, **after), project_delete=["alpha"] if removed else [])
    assert changes >= 2
    own = world.own()["alpha"]
    state = "closed" if name == "ended" else after.get("state", "open")
    assert own.takes_jobs == own.reached == bool(own.claims) == (state == "open")
    assert own.junction == {"archived": "", "removed": None}.get(state, "projects/alpha")
    assert name == "made" or bool(own.data) == (state != "removed")


def test_a_project_with_jobs_is_closed_and_goes_when_they_are_over(world: World) -> None:
    settle(world, intent(world))
    write_data(world)
    removed = intent(world, state="removed")
    world.slurm.jobs = dict(JOB)
    assert kill_each(world, removed, project_delete=["alpha"]) >= 2
    own = world.own()["alpha"]
    assert (own.takes_jobs, own.reached, own.claims) == (False, True, 0), "its last job goes on"
    world.slurm.jobs.clear()
    kill_each(world, removed, project_delete=["alpha"])
    assert world.own()["alpha"].junction is None and "alpha" not in world.slurm.accounts


def test_without_the_line_that_names_it_no_data_is_deleted(world: World) -> None:
    settle(world, intent(world))
    write_data(world)
    removed = intent(world, state="removed")
    for delete in ([], ["beta"]):
        world.must_hold = Safe(world, removed, delete, ("beta", "gamma"))
        with pytest.raises(Failed, match=r"add the line project_delete: \[alpha\]"):
            run(world, removed, project_delete=delete)
    assert world.own()["alpha"].data and not world.own()["alpha"].takes_jobs
    kill_each(world, removed, project_delete=["alpha"])


def test_an_entry_that_leaves_after_its_project_leaves_nothing_to_do(world: World) -> None:
    settle(world, intent(world))
    settle(world, intent(world, state="removed"), project_delete=["alpha"])
    assert settle(world, intent(world, BETA, GAMMA), ("beta", "gamma")).count <= 1, "QOS that preempts its own"


def test_an_entry_that_leaves_too_early_leaves_all_but_its_claims(world: World) -> None:
    settle(world, intent(world))
    write_data(world)
    world.must_hold = lambda *_: None
    run(world, intent(world, BETA, GAMMA))
    own = world.own()["alpha"]
    assert (own.junction, own.top, own.limits, own.claims) == ("projects/alpha", TOP, LIMITS, 0)
    assert own.data and "alpha" in world.slurm.accounts
    settle(world, intent(world), ("beta", "gamma"))


def test_a_project_with_another_name_is_made_after_its_fileset_has_the_name(world: World) -> None:
    settle(world, intent(world))
    write_data(world)
    there = {"folder": "projects/alpha", **ALPHA["directory"]}
    renamed = intent(world, {**ALPHA, "name": "delta", "directory": there}, BETA, GAMMA)
    world.must_hold = Safe(world, renamed, still=("alpha", "beta", "gamma"))
    with pytest.raises(Failed, match="fileset alpha is linked there"):
        run(world, renamed)
    assert world.kill.count == 0 and "delta" not in world.slurm.accounts
    mm("mmchfileset", ["fs1", "alpha", "-j", "delta", "-t", "drawbridge project delta"], (0,))
    world.must_hold = lambda *_: None
    run(world, renamed)
    run(world, renamed)
    assert world.kill.count == 0 and world.slurm.takes_jobs("delta")
    assert Path(world.mount, "projects/alpha/data").read_text() == "results of alpha\n"


def test_projects_swap_their_directories_over_an_archive(world: World) -> None:
    def swapped(state: str = "open") -> Json:
        places = (("alpha", "projects/beta"), ("beta", "projects/alpha"))
        two = [
            {**ALPHA, "name": name, "state": state, "directory": {**ALPHA["directory"], "folder": place}}
            for name, place in places
        ]
        return intent(world, *two, GAMMA)

    settle(world, intent(world))
    write_data(world)
    world.must_hold = Safe(world, swapped(), still=("alpha", "beta", "gamma"))
    with pytest.raises(Failed, match="mmunlinkfileset fs1 alpha"):
        run(world, swapped())
    assert world.kill.count == 0
    settle(world, swapped("archived"), ("gamma",))
    kill_each(world, swapped(), ("gamma",))
    assert Path(world.mount, "projects/beta/data").read_text() == "results of alpha\n"


def test_a_run_for_one_project_leaves_the_others_alone(world: World) -> None:
    """One policy of the file system has the rules of all."""
    settle(world, intent(world, BETA, GAMMA))
    kill_each(world, intent(world), projects_only=["alpha"])
    with pytest.raises(ValueError, match="no project has the name alfa"):
        run(world, intent(world), projects_only=["alfa"])


def test_no_directory_is_closed_while_slurm_does_not_say_what_runs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(world, intent(world))
    before = world.own()["alpha"]
    monkeypatch.setitem(LAYERS, "slurm_account_jobs", SILENT)
    with pytest.raises(ValueError, match="did not say which projects have jobs"):
        run(world, intent(world, state="archived"))
    after = world.own()["alpha"]
    assert (after.top, after.junction) == (before.top, before.junction)
