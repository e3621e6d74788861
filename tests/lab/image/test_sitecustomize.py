# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lab.image import recipe

FOLDER = recipe.HERE / "files/etc/python3.13"
ASK = "import sys; sys.path.insert(0, sys.argv[1]); import m; m.f()"


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "kept"


@pytest.fixture
def run(tmp_path, kept):
    def run(text: str, name: str = "a.zip") -> tuple[str, str]:
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("m.py", text)
        environment = {**os.environ, "PYTHONPATH": str(FOLDER), "LAB_COMPILED": str(kept)}
        argv = [sys.executable, "-c", ASK, str(tmp_path / name)]
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
        return done.stdout, done.stderr

    return run


def only(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def test_what_is_kept_is_used(run, kept):
    assert run("def f(): print('one')") == ("one\n", "")
    file = only(kept)
    file.write_bytes(file.read_bytes().replace(b"one", b"two"))
    assert run("def f(): print('one')") == ("two\n", "")


def test_another_text_is_compiled(run, kept):
    run("def f(): print('one')")
    assert run("def f(): print('two')") == ("two\n", "")
    assert len(list(kept.iterdir())) == 2


def test_an_error_names_the_archive_that_it_is_in(run):
    run("def f(): raise ValueError", "a.zip")
    assert "b.zip/m.py" in run("def f(): raise ValueError", "b.zip")[1]


@pytest.mark.parametrize("what", [b"", b"c", b"N"], ids=["empty", "cut off", "no code"])
def test_what_is_broken_is_compiled_again(run, kept, what):
    run("def f(): print('one')")
    only(kept).write_bytes(what)
    assert run("def f(): print('one')") == ("one\n", "")


def test_who_can_not_keep_anything_compiles(run, kept):
    kept.touch()
    assert run("def f(): print('one')") == ("one\n", "")
