# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Node-side code on the oldest Python that nodes may have: `make test PARTS="old-python"`.

Nothing of the controller's environment is there but what Ansible itself would send: ansible.module_utils of the
installed ansible-core, and this tree. With --all, as `make nightly` has it, faults meet modules alone as well. All
modules are then sent to that Python, and to those between it and today's, as the archives that Ansible makes.
A skipped test fails the part. A machine without that Python gets it in a Debian tree of its own.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from lab.errors import LabError
from tests.collection.installed import ROOT, bare_environment
from tests.collection.payloads import NODE_MODULES, refusing_python
from tests.old_python import debian
from tests.old_python.node_side import fixtures, shipped, tests

VERSION = (3, 9)
DOTTED = ".".join(map(str, VERSION))
BETWEEN = ((3, 10), (3, 11), (3, 12))
"""Those of Ubuntu 22.04, Debian 12 and Ubuntu 24.04."""
UV = ROOT / ".cache/uv/bin/uv"
PLACE = ROOT / f".cache/python{DOTTED}"
GLIBC = "manylinux_2_28"
LOCK = Path(__file__).parent / "requirements.lock"
COMPILE = "import sys\nfor name in sys.argv[1:]: compile(open(name).read(), name, 'exec')"


def candidates(version: tuple[int, int] = VERSION) -> Iterator[Path]:
    """Places where a Python may be: the one that is named, PATH, pyenv's, uv's."""
    if (named := os.environ.get("OLD_PYTHON")) and version == VERSION:
        yield Path(named)
        return
    dotted = ".".join(map(str, version))
    if found := shutil.which(f"python{dotted}"):
        yield Path(found)
    yield from sorted(Path.home().glob(f".pyenv/versions/{dotted}.*/bin/python{dotted}"))
    argv = [str(UV), "python", "find", "--managed-python", "--offline", dotted]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        yield Path(done.stdout.strip())


def is_it(python: Path, version: tuple[int, int] = VERSION) -> bool:
    """Whether it runs and is of that version: pyenv's shims are there without being one."""
    argv = [str(python), "-c", f"import sys; sys.exit(sys.version_info[:2] != {version})"]
    try:
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def interpreter() -> Path:
    """That Python: the machine's, or Debian's in a tree of its own. Raises LabError."""
    for python in candidates():
        if is_it(python):
            return python
    if named := os.environ.get("OLD_PYTHON"):
        raise LabError(f"OLD_PYTHON is {named!r}, but that runs no Python {DOTTED}: name one that does, or none")
    return debian.python()


def here(version: tuple[int, int]) -> Path | None:
    """A Python of this version, if the machine has one."""
    return next((python for python in candidates(version) if is_it(python, version)), None)


def packages() -> Path:
    """Install what the tests import, as its lock says; return the folder to import from."""
    if not UV.exists():
        raise LabError(f"{UV.relative_to(ROOT)} is not there, but it installs what tests import: run make tools")
    site = PLACE / "packages"
    sync = [str(UV), "pip", "sync", "--quiet", "--require-hashes", "--python", sys.executable, str(LOCK)]
    # compiled packages that the C library of the Debian tree can load, whichever interpreter it is in the end
    target = ["--target", str(site), "--python-version", DOTTED, "--python-platform", f"{platform.machine()}-{GLIBC}"]
    subprocess.run([*sync, *target], check=True)
    return site


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


def run_tests(python: Path, imports: list[Path], scratch: Path, both_ways: bool) -> list[str]:
    """Run the tests of node-side code; return the failures."""
    report = scratch / "report.xml"
    names = [str(path.relative_to(ROOT)) for path in tests()]
    shared = [word for name in fixtures() for word in ("-p", name)]
    argv = [str(python), "-m", "pytest", "-q", "--noconftest", *shared, "-n", "2", "--durations=5"]
    # CI makes hypothesis take the same examples each time, without a deadline for each
    variables = {"PYTHONPATH": ":".join(map(str, imports)), "CI": "true"}
    # the tree may be read-only, and many tests start programs that would compile it again
    variables |= {"PYTHONPYCACHEPREFIX": str(scratch / "pycache"), "PYTHONDONTWRITEBYTECODE": ""}
    variables["BOTH_WAYS"] = "yes" if both_ways else ""  # for tests/unit/library/ways.py
    variables["HYPOTHESIS_STORAGE_DIRECTORY"] = str(scratch / "hypothesis")
    argv += [f"--junit-xml={report}", *names]
    done = subprocess.run(argv, cwd=ROOT, env={**os.environ, **variables}, check=False)
    wrong = [f"pytest ended with {done.returncode}"] if done.returncode else []
    cases = ElementTree.parse(report).iter("testcase") if report.exists() else ()
    skipped = [case.get("name", "") for case in cases if case.find("skipped") is not None]
    return wrong + [f"{name} was skipped" for name in skipped]


def sent(pythons: dict[tuple[int, int], Path], scratch: Path) -> list[str]:
    """Send the modules to each release of Python; return the failures."""
    settings = bare_environment(scratch / "home") | {"ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections")}
    wrong = []
    for version, python in pythons.items():
        try:
            seen = refusing_python(NODE_MODULES, scratch, settings, python)
            wrong += [] if seen == version else [f"the modules for Python {version} were run by Python {seen}"]
        except AssertionError as err:
            wrong.append(f"a module sent to Python {version} did not refuse by itself: {err}")
    return wrong


def main(words: list[str]) -> int:
    """Compile, test, send; print the counts and the failures."""
    try:
        site, python = packages(), interpreter()
    except LabError as err:
        print(err, file=sys.stderr)
        return 1
    files = shipped()
    if untested := [str(path.relative_to(ROOT)) for path in tests() if not path.is_file()]:
        print(f"what runs on nodes needs tests of its own: {', '.join(untested)}", file=sys.stderr)
        return 1
    compiled = subprocess.run([str(python), "-c", COMPILE, *map(str, files)], check=False)
    wrong = ["not all files compile"] if compiled.returncode else []
    with tempfile.TemporaryDirectory() as scratch:
        wrong += run_tests(python, [what_ansible_sends(), site], Path(scratch), "--all" in words)
        pythons = {VERSION: python, **{each: found for each in BETWEEN if (found := here(each))}}
        wrong += sent(pythons, Path(scratch)) if "--all" in words else []
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    print(f"Python {DOTTED}: {len(files)} files compiled, {len(tests())} test files")
    if "--all" in words:
        print(f"{len(NODE_MODULES)} modules sent to Python", ", ".join(".".join(map(str, each)) for each in pythons))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
