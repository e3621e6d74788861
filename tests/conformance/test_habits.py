# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Budgets, mirrors and bans: what no linter checks."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from molecule.interpolation import Interpolator, TemplateWithDefaults

from tests.conformance.tree import (
    ACTIONS,
    CALLBACKS,
    MODULES,
    PLAYBOOKS,
    PROGRAMS,
    PYTHON,
    ROLES,
    ROOT,
    relative,
    task_files,
    tasks,
)

FUNCTION_LINES = 40
CODE_LINES = 300
TASK_FILE_LINES = 60
TASKS_IN_A_FILE = 12
PLAYBOOK_LINES = 60
README_LINES = 60
SHIPPED = (
    "library",
    "module_utils",
    "filter_plugins",
    "plugins/action",
    "plugins/plugin_utils",
    "plugins/callback",
    "roles",
)

BANNED_ACTIONS = {"set_fact", "shell", "raw", "add_host", "meta"}
BANNED_KEYWORDS = {"ignore_errors", "ignore_unreachable", "run_once", "any_errors_fatal"}


def shipped_python() -> list[Path]:
    return [path for path in PYTHON if relative(path).startswith(SHIPPED)]


def code_lines(path: Path) -> int:
    """Lines that are neither blank, comment nor documentation string."""
    tree = ast.parse(path.read_text())
    strings = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = path.read_text().splitlines()
    return sum(
        bool(text.strip()) and not text.strip().startswith("#") and number not in strings
        for number, text in enumerate(lines, 1)
    )


@pytest.mark.parametrize("path", shipped_python(), ids=relative)
def test_functions_are_short(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= FUNCTION_LINES, f"{node.name} has {length} lines"


@pytest.mark.parametrize("path", PYTHON, ids=relative)
def test_files_are_small(path: Path) -> None:
    assert code_lines(path) <= CODE_LINES


@pytest.mark.parametrize("path", task_files(), ids=relative)
def test_task_files_are_small(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= TASK_FILE_LINES
    assert len(tasks(path)) <= TASKS_IN_A_FILE


@pytest.mark.parametrize("path", PLAYBOOKS, ids=relative)
def test_playbooks_are_small(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= PLAYBOOK_LINES


@pytest.mark.parametrize("role", ROLES, ids=relative)
def test_roles_have_a_short_readme(role: Path) -> None:
    """Its example does not count: that is run (tests/collection), not read."""
    text = re.sub(r"^## Example\n.*?(?=^## |\Z)", "", (role / "README.md").read_text(), flags=re.DOTALL | re.MULTILINE)
    assert len(text.strip().splitlines()) <= README_LINES


@pytest.mark.parametrize("path", [*task_files(), *PLAYBOOKS], ids=relative)
def test_tasks_hide_nothing(path: Path) -> None:
    for task in tasks(path):
        actions = {key.rsplit(".", 1)[-1] for key in task}
        assert not actions & BANNED_ACTIONS, f"{task['name']}: {actions & BANNED_ACTIONS}"
        banned = set(task) & BANNED_KEYWORDS - ({"run_once"} if path.name == "check.yml" else set())
        assert not banned, f"{task['name']}: {banned}"
        assert task.get("failed_when") is not False, task["name"]
        assert "changed_when" not in task or "command" in actions, task["name"]


@pytest.mark.parametrize("path", PLAYBOOKS, ids=relative)
def test_playbooks_validate_no_arguments_for_each_host(path: Path) -> None:
    """check.yml does it once for all hosts, and is every playbook's first play."""
    assert not [play["name"] for play in yaml.safe_load(path.read_text()) if "roles" in play]
    imported = [task["ansible.builtin.import_role"] for task in tasks(path) if "ansible.builtin.import_role" in task]
    assert [call["name"] for call in imported if call.get("rolespec_validate") is not False] == []


def test_package_files_are_empty() -> None:
    for path in (ROOT / "module_utils").rglob("__init__.py"):
        assert path.read_text() == "", relative(path)


CONTROLLER_ONLY = {"netmiko", "hier_config", "kubernetes", "paramiko", "yaml", "jinja2"}


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Level and dotted name of every import."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or ""
            yield from ((node.level, ".".join(filter(None, [node.module, alias.name]))) for alias in node.names)


def reached(path: Path) -> dict[Path, set[str]]:
    """Drawbridge's files that a module drags to the nodes, each with the outside packages that it imports."""
    found: dict[Path, set[str]] = {}
    queue = [path.resolve()]
    while queue:
        current = queue.pop()
        if current in found:
            continue
        found[current] = set()
        for level, name in imports(current):
            if level == 0:
                found[current].add(name.split(".")[0])
                continue
            base = current.parent
            for _ in range(level - 1):
                base = base.parent
            target = base / name.replace(".", "/")
            queue += [file.resolve() for file in (target.with_suffix(".py"), target / "__init__.py") if file.is_file()]
    return found


@pytest.mark.parametrize("path", [path for path in MODULES if path.stem not in {a.stem for a in ACTIONS}], ids=relative)
def test_nothing_on_a_node_needs_the_controllers_libraries(path: Path) -> None:
    for file, packages in reached(path).items():
        assert not packages & CONTROLLER_ONLY, f"{relative(file)} imports {packages & CONTROLLER_ONLY}"


def mirror(path: Path) -> Path:
    """The test that belongs to a source file."""
    parts = Path(relative(path)).parts
    if parts[0] == "module_utils":
        parts = ("module_utils", *parts[2:])
    return ROOT / "tests/unit" / Path(*parts[:-1]) / f"test_{path.stem}.py"


# the table of refusals, site/refused.yml, tests the declarations and the rules
MIRRORED = [
    path
    for path in sorted([*(ROOT / "module_utils").rglob("*.py"), *ACTIONS, *CALLBACKS])
    if path.name not in {"__init__.py", "model.py", "load.py", "faults.py", "options.py", "reader.py"}
    # tested through its doors, such as filter_plugins/view.py
    and path != ROOT / "module_utils/drawbridge/site/views.py"
    # rows of storage/kinds.py, which has the tests
    and path.name != "kind.py"
    and not path.stem.endswith("rules")
    # a layer has the cases of its module, in tests/unit/library
    and (path.parent.name == "core" or not re.search(r"(^|_)layer$", path.stem))
]


@pytest.mark.parametrize("path", MIRRORED, ids=relative)
def test_source_has_its_test(path: Path) -> None:
    assert mirror(path).is_file(), f"{relative(path)} needs {relative(mirror(path))}"


@pytest.mark.parametrize("path", [path for path in MODULES if path.stem not in {a.stem for a in ACTIONS}], ids=relative)
def test_modules_have_cases(path: Path) -> None:
    cases = ROOT / f"tests/unit/library/{path.stem}.yml"
    assert cases.is_file() or (ROOT / f"tests/unit/library/test_{path.stem}.py").is_file()


@pytest.mark.parametrize("role", ROLES, ids=relative)
def test_roles_have_a_scenario(role: Path) -> None:
    folder = ROOT / "molecule" / role.name
    assert (folder / "molecule.yml").is_file()
    assert list((folder / "tests").glob("test_*.py")), "a scenario without tests proves nothing"


@pytest.mark.parametrize("path", PYTHON, ids=relative)
def test_licence_header(path: Path) -> None:
    text = path.read_text()
    if text:
        assert "SPDX-License-Identifier: Apache-2.0" in "\n".join(text.splitlines()[:3])


PRIVATE = re.compile(
    r"\b(task|play|role|manager|inventory|templar|loader|result|playbook|block|host|variables)\._[a-z]|ansible\._internal"
)
"""Private names of Ansible's objects. An action's own _task, _templar and their like are what actions are given."""
HOME_OF_PRIVATE_NAMES = {"internals.py", "releases.py"}


OTHERS = (path for kind in ("plugin_utils", "lookup") for path in (ROOT / "plugins" / kind).glob("*.py"))


@pytest.mark.parametrize("path", [*ACTIONS, *CALLBACKS, *OTHERS], ids=relative)
def test_private_names_of_ansible_have_one_place(path: Path) -> None:
    if path.name not in HOME_OF_PRIVATE_NAMES:
        assert PRIVATE.findall(path.read_text()) == []


def test_the_linter_sees_programs_without_an_ending() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert settings["tool"]["ruff"]["extend-include"] == [relative(path) for path in PROGRAMS]


@pytest.mark.parametrize(("named", "number"), [({}, "59"), ({"LAB_ID": "3"}, "3")])
def test_scenarios_use_a_users_lab_only_by_its_number(named: dict[str, str], number: str) -> None:
    """They begin with lab down. That numbers from 60 on are those of all tests is said in tests/run.py."""
    text = (ROOT / ".config/molecule/config.yml").read_text()
    told = Interpolator(TemplateWithDefaults, {"MOLECULE_PROJECT_DIRECTORY": "", **named}).interpolate(text)
    assert str(yaml.safe_load(told)["ansible"]["env"]["LAB_ID"]) == number


def test_the_lab_is_the_inventorys() -> None:
    """The lab's machine room and its inventory must have the same names and addresses."""
    room = yaml.safe_load((ROOT / "lab/site.yml").read_text())
    hosts: dict[str, int] = {}
    queue = [yaml.safe_load((ROOT / "inventories/lab/hosts.yml").read_text())["all"]]
    while queue:
        group = queue.pop()
        hosts |= {name: values["lab_address"] for name, values in (group.get("hosts") or {}).items()}
        queue += (group.get("children") or {}).values()
    machines = {**room["hosts"], **room["switches"]}
    assert {name: machines[name]["address"] for name in hosts} == hosts


def test_no_file_knows_this_checkout() -> None:
    command = ["git", "grep", "-nIF", f"{ROOT}/"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr


LOCKS = [ROOT / "requirements.lock", ROOT / ".config/uv-requirements.lock"]


@pytest.mark.parametrize("path", [*LOCKS, *sorted(ROOT.glob("tests/old_*/requirements.lock"))], ids=relative)
def test_locks_pin_by_hash_and_name_no_index(path: Path) -> None:
    text = path.read_text()
    assert "--hash=sha256:" in text
    assert "://" not in text and "--index" not in text
