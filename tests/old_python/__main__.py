# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Node-side code on the oldest Python that nodes may have: `make test PARTS="old-python"`.

Nothing of the controller's environment is there but what Ansible itself would send: ansible.module_utils of the
installed ansible-core, and this tree. The modules are then sent once more, as the archives that Ansible makes of them.
A skipped test fails the part, and so does a machine without that Python.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from tests.collection.installed import ROOT, bare_environment
from tests.collection.payloads import NODE_MODULES, refusing_python
from tests.old_python.node_side import shipped, tests

VERSION = (3, 9)
DOTTED = ".".join(map(str, VERSION))
UV = ROOT / ".cache/uv/bin/uv"
PLACE = ROOT / f".cache/python{DOTTED}"
LOCK = Path(__file__).parent / "requirements.lock"
COMPILE = "import sys\nfor name in sys.argv[1:]: compile(open(name).read(), name, 'exec')"


class Missing(Exception):
    """What this part needs is not on the machine."""


def candidates() -> Iterator[Path]:
    """Places where that Python may be: the one that is named, PATH, pyenv's, uv's."""
    if named := os.environ.get("OLD_PYTHON"):
        yield Path(named)
        return
    if found := shutil.which(f"python{DOTTED}"):
        yield Path(found)
    yield from sorted(Path.home().glob(f".pyenv/versions/{DOTTED}.*/bin/python{DOTTED}"))
    argv = [str(UV), "python", "find", "--managed-python", "--offline", DOTTED]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        yield Path(done.stdout.strip())


def is_it(python: Path) -> bool:
    """Whether it runs and is of that version: pyenv's shims are there without being one."""
    argv = [str(python), "-c", f"import sys; sys.exit(sys.version_info[:2] != {VERSION})"]
    try:
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def interpreter() -> Path:
    """That Python. Raises Missing."""
    if not UV.exists():
        raise Missing(f"{UV.relative_to(ROOT)} is not there, but it makes the environment; run: make tools")
    for python in candidates():
        if is_it(python):
            return python
    where = (
        f"OLD_PYTHON is {os.environ['OLD_PYTHON']!r}" if "OLD_PYTHON" in os.environ else "PATH, pyenv and uv have none"
    )
    raise Missing(
        f"Python {DOTTED} is needed, but {where}; install one with `{UV.relative_to(ROOT)} python install {DOTTED}`,"
        " or name one with OLD_PYTHON=/path/to/python"
    )


def environment(python: Path) -> Path:
    """Make the environment as its lock says; return its Python."""
    inside = PLACE / "venv/bin/python"
    if not is_it(inside):
        shutil.rmtree(PLACE, ignore_errors=True)
        subprocess.run([str(UV), "venv", "--quiet", "--python", str(python), str(PLACE / "venv")], check=True)
    sync = [str(UV), "pip", "sync", "--quiet", "--require-hashes", "--python", str(inside), str(LOCK)]
    subprocess.run(sync, check=True)
    return inside


def what_ansible_sends() -> Path:
    """Write a package `ansible` with nothing but module_utils, as it is on a node; return the folder to import from."""
    spec = importlib.util.find_spec("ansible")
    assert spec and spec.origin
    node = PLACE / "node"
    shutil.rmtree(node, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", "powershell", "csharp")
    shutil.copytree(Path(spec.origin).parent / "module_utils", node / "ansible/module_utils", ignore=ignored)
    (node / "ansible/__init__.py").touch()
    return node


def run_tests(python: Path, node: Path, report: Path) -> list[str]:
    """Run the tests of node-side code; return what is wrong."""
    names = [str(path.relative_to(ROOT)) for path in tests()]
    argv = [str(python), "-m", "pytest", "-q", "--noconftest", "-n", "2", f"--junit-xml={report}", *names]
    # CI makes hypothesis take the same examples each time, without a deadline for each
    variables = {"PYTHONPATH": str(node), "PYTHONDONTWRITEBYTECODE": "1", "CI": "true"}
    done = subprocess.run(argv, cwd=ROOT, env={**os.environ, **variables}, check=False)
    wrong = [f"pytest ended with {done.returncode}"] if done.returncode else []
    cases = ElementTree.parse(report).iter("testcase") if report.exists() else ()
    skipped = [case.get("name", "") for case in cases if case.find("skipped") is not None]
    return wrong + [f"{name} was skipped" for name in skipped]


def main() -> int:
    """Compile, test, send; say what was done."""
    try:
        python = environment(interpreter())
    except Missing as err:
        print(err, file=sys.stderr)
        return 1
    files = shipped()
    compiled = subprocess.run([str(python), "-c", COMPILE, *map(str, files)], check=False)
    wrong = ["not all files compile"] if compiled.returncode else []
    with tempfile.TemporaryDirectory() as scratch:
        wrong += run_tests(python, what_ansible_sends(), Path(scratch) / "report.xml")
        settings = bare_environment(Path(scratch) / "home") | {"ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections")}
        try:
            version = refusing_python(NODE_MODULES, Path(scratch), settings, python)
            wrong += [] if version == VERSION else [f"the modules were run by Python {version}"]
        except AssertionError as err:
            wrong.append(f"a module that was sent did not refuse by itself: {err}")
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    print(f"Python {DOTTED}: {len(files)} files compiled, {len(tests())} test files, {len(NODE_MODULES)} modules sent")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
