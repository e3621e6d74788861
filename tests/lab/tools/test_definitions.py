# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Definitions of workloads in the cache, with a Go that only pretends to download."""

import json
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.tools import definitions
from lab.tools.definitions import MODULES
from lab.tools.toolchain import Toolchain

GO = """#!/bin/sh
echo "$4" >> {asked}
cat {answers}/$(echo "$4" | tr / -)
"""


@pytest.fixture
def proxy(tmp_path, monkeypatch):
    """A module proxy that has every module, and says what it was asked for."""
    answers, asked, go = tmp_path / "answers", tmp_path / "asked", tmp_path / "go"
    answers.mkdir()
    go.write_text(GO.format(asked=asked, answers=answers))
    go.chmod(0o755)
    for module in MODULES:
        sources = tmp_path / module.name / module.folder
        for name in module.definitions:
            (sources / name).parent.mkdir(parents=True, exist_ok=True)
            (sources / name).write_text(f"kind: {name}\n")
        answer = {"Dir": str(tmp_path / module.name), "Sum": module.checksum}
        (answers / f"{module.path}@{module.version}".replace("/", "-")).write_text(json.dumps(answer))
    monkeypatch.setattr(definitions.toolchain, "find", lambda: Toolchain("1.26.0", go))
    return tmp_path


def left(cache: Path) -> set[str]:
    return {path.name for path in (cache / "tools" / definitions.FOLDER).iterdir()}


def test_each_module_is_downloaded_once(proxy):
    cache = proxy / "cache"
    found = definitions.ensure(cache, lambda line: None)
    assert definitions.ensure(cache, lambda line: None) == found
    assert [path.read_text() for path in found] == [f"kind: {name}\n" for it in MODULES for name in it.definitions]
    assert (proxy / "asked").read_text().splitlines() == [f"{it.path}@{it.version}" for it in MODULES]
    assert left(cache) == {module.name for module in MODULES}


def test_a_download_that_breaks_off_is_tried_again(proxy):
    go = proxy / "go"
    go.write_text(go.read_text().replace("\n", f"\ntest -e {proxy}/tried || {{ touch {proxy}/tried; exit 1; }}\n", 1))
    assert len(definitions.ensure(proxy / "cache", lambda line: None)) == sum(len(it.definitions) for it in MODULES)


def test_what_was_not_pinned_is_not_kept(proxy):
    module = MODULES[0]
    answer = proxy / "answers" / f"{module.path}@{module.version}".replace("/", "-")
    answer.write_text(json.dumps({"Dir": str(proxy / module.name), "Sum": "h1:another"}))
    with pytest.raises(LabError, match=r"has the checksum h1:another, but h1:aaSH.* is pinned"):
        definitions.ensure(proxy / "cache", lambda line: None)
    assert left(proxy / "cache") == set()


def test_a_proxy_that_has_it_not_is_told_in_one_sentence(proxy):
    (proxy / "go").write_text("#!/bin/sh\necho no such module >&2; exit 1\n")
    with pytest.raises(LabError, match=r"can't be downloaded: no such module; it comes from the Go module proxy"):
        definitions.ensure(proxy / "cache", lambda line: None)
