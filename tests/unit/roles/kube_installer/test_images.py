# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""drawbridge-run refuses an image in the words of the policies, before anything is created."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.run.project import require_image
from tests.attacks.manifests import rendered

LINES = [
    line.get("message") or line["messageExpression"]
    for body in rendered()
    if body["metadata"]["name"] == "drawbridge-job-pods" and "validations" in body["spec"]
    for line in body["spec"]["validations"]
]


def refused(allow: Sequence[str], digests_only: bool) -> str:
    with pytest.raises(Refused) as found:
        require_image("x", allow, digests_only)
    return str(found.value).removeprefix("--image x: ")


def test_of_another_registry() -> None:
    [line] = [it for it in LINES if "images of this namespace begin" in it]
    words = line.replace("variables.images.join(' or ')", "'a.example or b.example'").split("'")[1::2]
    assert refused(["a.example", "b.example"], False) == "".join(words)


def test_without_a_digest() -> None:
    assert refused([], True) in LINES
