# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import refusals
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesets.model import (
    Consents,
    Fileset,
    FilesetsState,
    comment_of,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesets.plan import plan

NAMES = ("a", "b", "c")
OWN = FilesetsState({name: Fileset(comment_of(name), used=12_345 if name == "a" else 0) for name in NAMES})
OTHERS = FilesetsState({name: Fileset("theirs", "/fs/x") for name in NAMES})


def test_one_sentence_names_all_filesets_without_consent() -> None:
    consents = Consents("fs1", delete=frozenset({"b"}), delete_option="site_delete")
    steps = plan(OWN, FilesetsState(dict.fromkeys(NAMES)), consents)
    assert refusals(steps, {}) == [
        "deleting filesets of fs1 deletes their data permanently: a (12,345 inodes in use), c; to allow it, add the"
        " line site_delete: [a, c]"
    ]
    assert [step.payload.name for step in steps if not step.refused] == ["b"]


def test_filesets_of_others_are_one_sentence_too() -> None:
    steps = plan(OTHERS, FilesetsState(dict.fromkeys(NAMES)), Consents("fs1", delete=frozenset(NAMES)))
    [why] = refusals(steps, {})
    assert "a ('theirs'), b ('theirs'), c ('theirs')" in why and "add" not in why and "adopt: [a, b, c]" in why
