# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.artefact import Artefact
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import Entry


def test_turns_of_a_loop_are_one_artefact_in_their_order() -> None:
    one = Artefact(["a"], {"/a": Entry("1")}, [{"kind": "A"}], {"a.yml": [{}]}, {"x": {}})
    two = Artefact(["b"], {"/b": Entry("2")}, [{"kind": "B"}], {"b.yml": []}, {"y": {}})
    files = {"/a": Entry("1"), "/b": Entry("2")}
    handed = {"a.yml": [{}], "b.yml": []}
    assert one + two == Artefact(["a", "b"], files, [{"kind": "A"}, {"kind": "B"}], handed, {"x": {}, "y": {}})
