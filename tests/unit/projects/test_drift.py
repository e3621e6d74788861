# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What others change of a project: each part is named by the check, made right by a run, and then needs no step."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.projects.parts import mm
from tests.unit.projects.test_ends import ALPHA, TOP, built, intent, run, settle, world
from tests.unit.projects.world import World

__all__ = ["built", "world"]
API, RBAC = "/api/v1", "/apis/rbac.authorization.k8s.io/v1"
CLAIM = f"{API}/namespaces/alpha/persistentvolumeclaims/work"
VOLUME = f"{API}/persistentvolumes/drawbridge-alpha.work"
QUOTA = f"{API}/namespaces/alpha/resourcequotas/drawbridge"
BINDING = f"{RBAC}/namespaces/alpha/rolebindings/drawbridge-opener"
PLACE = "{}/projects/alpha"


def tool(*argv: str) -> Callable[[World], Any]:
    """Another administrator's mm command."""
    return lambda world: mm(argv[0], [*argv[1:]], (0,))


def sacctmgr(line: str) -> Callable[[World], Any]:
    return lambda world: world.slurm.run(["sacctmgr", "-i", *line.split()])


def chown(world: World) -> None:
    os.chown(PLACE.format(world.mount), 2, 1)


def chmod(world: World) -> None:
    Path(PLACE.format(world.mount)).chmod(0o777)


def said(path: str, *keys: str, value: Any) -> Callable[[World], None]:
    """Another word in an object of Kubernetes."""

    def change(world: World) -> None:
        place: Any = world.api.items[path]
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


def gone(path: str) -> Callable[[World], Any]:
    return lambda world: world.api.delete(path, None)


DRIFTS: dict[str, tuple[Callable[[World], Any], str]] = {
    "an account": (sacctmgr("modify account where name=alpha set GrpJobs=1"), "set account alpha: GrpJobs=-1"),
    "an open account": (
        sacctmgr("modify account where name=alpha set GrpSubmitJobs=0"),
        "set account alpha: GrpSubmit",
    ),
    "a QOS of an account": (
        sacctmgr("modify account where name=alpha set qos=urgent"),
        "set account alpha: qos=project",
    ),
    "a budget": (sacctmgr("modify qos where name=project-alpha set GrpTRESMins=cpu=1"), "set qos project-alpha: Grp"),
    "a decay": (sacctmgr("modify qos where name=project-alpha set Flags=-1"), "set qos project-alpha: Flags=NoDecay"),
    "an association": (sacctmgr("delete user where name=ada account=alpha"), "let ada charge alpha"),
    "another association": (sacctmgr("add user eve account=alpha"), "let eve charge alpha no longer"),
    "an annotation": (
        said(f"{API}/namespaces/alpha", "metadata", "annotations", value={"drawbridge.io/claims": "all"}),
        "apply Namespace alpha",
    ),
    "a quota of a namespace": (said(QUOTA, "spec", "hard", value={"pods": "9"}), "change spec.hard."),
    "a binding": (said(BINDING, "subjects", value=[{"kind": "User", "name": "eve"}]), "change "),
    "a volume": (gone(VOLUME), "make PersistentVolume drawbridge-alpha.work"),
    "a volume's size": (said(VOLUME, "spec", "capacity", value={"storage": "9Gi"}), "change spec.capacity.storage of "),
    "a claim": (gone(CLAIM), "make PersistentVolumeClaim alpha/work"),
    "a claim of others": (
        lambda world: world.api.items.update({CLAIM[:-4] + "more": {**world.api.items[CLAIM], "metadata": MORE}}),
        "delete PersistentVolumeClaim alpha/more",
    ),
    "a junction": (tool("mmunlinkfileset", "fs1", "alpha"), "link fileset alpha at "),
    "a quota of files": (
        tool("mmsetquota", "fs1:alpha", "--block", "1G:1G", "--files", "9:9"),
        "limit fileset alpha to 2 GiB and 4,096 inodes",
    ),
    "no quota": (tool("mmsetquota", "fs1:alpha", "--block", "0:0", "--files", "0:0"), "limit fileset alpha to 2 GiB"),
    "an owner": (chown, "give "),
    "a mode": (chmod, "give "),
    "a comment": (
        tool("mmchfileset", "fs1", "alpha", "-t", "drawbridge project alpha: mine"),
        "change the comment of fileset alpha",
    ),
}
MORE = {"name": "more", "namespace": "alpha", "labels": {"drawbridge.io/project": "alpha"}}


@pytest.fixture
def settled(world: World) -> World:
    """One open project."""
    if "settled" not in world.kept:
        settle(world, intent(world, ALPHA))
        world.kept["settled"] = world.snapshot()
    world.restore(world.kept["settled"])
    return world


@pytest.mark.parametrize("name", DRIFTS)
def test_drift_is_named_and_made_right(settled: World, name: str) -> None:
    world, one = settled, intent(settled, ALPHA)
    expected = world.end()
    change, words = DRIFTS[name]
    change(world)
    changed = world.end()
    predicted = steps_of(run(world, one, check=True))
    assert world.kill.count == 0 and world.end() == changed, "a check writes nothing"
    assert [step for step in predicted if step.startswith(words)], predicted
    assert steps_of(run(world, one)) == predicted
    assert world.end() == expected and world.own()["alpha"].top == TOP
    assert steps_of(run(world, one)) == [] and world.kill.count == 0


def steps_of(results: list[Any]) -> list[str]:
    return [step for it in results for step in it.get("steps", ())]
