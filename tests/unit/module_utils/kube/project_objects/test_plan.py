# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.project_objects.plan import (
    Item,
    Objects,
    found,
    key_of,
    plan,
    wanted,
)

from tests.unit.module_utils.kube.project_objects.server import ALL, VOLUME


def test_wanted_objects_need_no_step() -> None:
    assert plan(wanted(ALL), wanted(ALL)) == []


def test_the_steps_lead_to_the_wanted_objects() -> None:
    state = Objects({("PersistentVolume", "", "drawbridge-old.scratch"): Item({})})
    for step in plan(state, wanted(ALL)):
        state = step.becomes(state)
    assert state == wanted(ALL)


def test_words_that_the_intent_lacks_do_not_count() -> None:
    """The API server adds defaults, and the binder says which claim a volume has."""
    live = {**VOLUME, "spec": {**VOLUME["spec"], "claimRef": {**VOLUME["spec"]["claimRef"], "uid": "1"}, "more": "x"}}
    item = wanted(ALL).items[key_of(VOLUME)]
    assert found(live, item) == item


def test_an_objects_label_says_whose_it_is() -> None:
    other = {**VOLUME, "metadata": {**VOLUME["metadata"], "labels": {"drawbridge.io/project": "boreas"}}}
    key = key_of(VOLUME)
    have = Objects({key: found(other, wanted([VOLUME]).items[key])})
    [step] = plan(have, wanted([VOLUME]))
    assert step.reason == "change project of PersistentVolume drawbridge-atlas.scratch from boreas to atlas"


def test_a_diff_shows_what_ends() -> None:
    lines = Objects({key_of(VOLUME): Item({"a": "b"}, ending=True)}).lines()
    assert lines == [
        "PersistentVolume drawbridge-atlas.scratch ending",
        "PersistentVolume drawbridge-atlas.scratch a: b",
    ]
