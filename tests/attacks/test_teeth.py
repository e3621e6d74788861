# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Policies with a defect let through what the table says: each line of CEL is there for a row.

Policies that have nothing to do with each other are broken at once: the API server reads them once a second.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.attacks.client import Json, path_of
from tests.attacks.manifests import rendered, sources
from tests.attacks.scene import ADMIN, Scene, refused_by, until
from tests.attacks.tables import attacks, read

pytestmark = pytest.mark.live

Objects = dict[str, Json]
ROWS = {row["id"]: row for row in attacks()}
POLICY_BINDINGS = "ValidatingAdmissionPolicyBinding"


def objects(texts: dict[str, str] | None = None) -> Objects:
    return {path_of(body): body for body in rendered(texts)}


SOUND = objects()


def planted(defect: Json) -> Objects:
    """What a defect changes."""
    texts = sources()
    assert texts[defect["file"]].count(defect["find"]) == 1, defect["find"]
    texts[defect["file"]] = texts[defect["file"]].replace(defect["find"], defect["replace"])
    changed = {path: body for path, body in objects(texts).items() if body != SOUND[path]}
    assert changed, defect["find"]
    return changed


def rounds() -> Iterator[list[tuple[Json, Objects]]]:
    """As many defects at once as touch different objects."""
    left = [(defect, planted(defect)) for defect in read("teeth.yml")]
    while left:
        taken: set[str] = set()
        now, later = [], []
        for defect, changed in left:
            policies = {body["spec"].get("policyName", body["metadata"]["name"]) for body in changed.values()}
            (later if policies & taken else now).append((defect, changed))
            taken |= policies if not policies & taken else set()
        yield now
        left = later


def test_every_row_that_teeth_name_is_in_the_table() -> None:
    assert {name for defect in read("teeth.yml") for name in defect["red"]} <= set(ROWS)
    assert all(defect["red"] for defect in read("teeth.yml"))


@pytest.mark.parametrize("planted_now", [*rounds()], ids=lambda now: f"{len(now)} at once")
def test_a_defect_lets_its_attack_through(scene: Scene, planted_now: list[tuple[Json, Objects]]) -> None:
    try:
        for _, changed in planted_now:
            for path, body in changed.items():
                scene.client.apply(path, body, ADMIN)
        for defect, _ in planted_now:
            for row in (ROWS[name] for name in defect["red"]):
                until(lambda row=row: not _refused(scene, row), f"{row['id']} despite {defect['replace']!r}")
    finally:
        for _, changed in planted_now:
            for path in changed:
                scene.client.apply(path, SOUND[path], ADMIN)


def test_without_bindings_no_policy_refuses(scene: Scene) -> None:
    """The last test: nothing is guarded any more."""
    for body in SOUND.values():
        if body["kind"] == POLICY_BINDINGS:
            scene.client.ask("DELETE", path_of(body))
    guarded = [row for row in ROWS.values() if row["guard"] not in ("rbac", "kubelets")]
    for row in guarded:
        until(lambda row=row: not _refused(scene, row), row["id"])


def _refused(scene: Scene, row: Json) -> bool:
    return refused_by(scene.ask(row), row["guard"], row["saying"])
