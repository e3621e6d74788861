# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The floor plan: one folder per subsystem, imports run down only, and few files may do input and output."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.systems import SYSTEMS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.clients import CLIENTS

from tests.conformance.test_habits import reached
from tests.conformance.tree import PLAYBOOKS, PYTHON, ROLES, ROOT, relative

HOME = ROOT / "module_utils/drawbridge"
FILES = sorted(path for path in HOME.rglob("*.py") if path.name != "__init__.py")
SUBSYSTEMS = {"fabric", "nic", "storage", "slurm", "kube", "gate", "proof", "report", "telemetry"}
FLOORS = ({"core"}, {"nodes"}, SUBSYSTEMS, {"preflight", "health", "projects"}, {"site"})
"""From the ground floor to the top: a file may import from its own subsystem and from the floors below."""
CORE_IO = re.compile(r"core/(command|files|units|packages/\w+|api/\w+)")
"""Besides files named io or *_io."""
IO = {
    "os",
    "pwd",
    "shutil",
    "signal",
    "socket",
    "ssl",
    "subprocess",
    "tempfile",
    "urllib.request",
    "netmiko",
    "paramiko",
}
OPENERS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "unlink", "mkdir", "iterdir", "glob"}
DATA = {"kube/releases/values"}
"""Reads a table that ships beside it."""


def name(path: Path) -> str:
    return str(path.relative_to(HOME).with_suffix(""))


def floor(subsystem: str) -> int:
    [number] = [number for number, level in enumerate(FLOORS) if subsystem in level]
    return number


def imported(path: Path) -> Iterator[str]:
    """Drawbridge's files that this one imports, as paths below HOME without their ending."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1] / (node.module or "").replace(".", "/")
            if base.with_suffix(".py").is_file():
                yield name(base.with_suffix(".py"))
            else:
                yield from (name(base / f"{alias.name}.py") for alias in node.names)


def outside(path: Path) -> set[str]:
    """Modules of others that it imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def opened(path: Path) -> set[str]:
    calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    names = {call.attr for call in calls if isinstance(call, ast.Attribute)}
    return (names | {call.id for call in calls if isinstance(call, ast.Name)}) & OPENERS


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_imports_run_down(path: Path) -> None:
    mine = name(path).split("/")[0]
    for target in imported(path):
        theirs = target.split("/")[0]
        assert theirs == mine or floor(theirs) < floor(mine), f"{name(path)} imports {target}"


def test_imports_make_no_circle() -> None:
    below = {name(path): set(imported(path)) for path in FILES}
    while ready := {file for file, needs in below.items() if not needs & below.keys()}:
        below = {file: needs for file, needs in below.items() if file not in ready}
    assert not below


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_only_io_files_do_input_and_output(path: Path) -> None:
    if re.search(r"(^|_)io$", path.stem) or CORE_IO.fullmatch(name(path)) or name(path) in DATA:
        return
    assert not outside(path) & IO
    assert not opened(path)


NOS = HOME / "fabric/nos"


def test_a_switch_system_is_its_folder_its_emulator_and_a_word_in_the_list() -> None:
    """The intent's choices, the action's and the dialect come from that word; no other file names a system."""
    folders = sorted(path.name for path in NOS.iterdir() if (path / "__init__.py").is_file())
    assert sorted(SYSTEMS) == folders
    assert [name for name in SYSTEMS if not (ROOT / "lab/emulators/fabric" / name / "switch.py").is_file()] == []
    others = [path for path in FILES if not path.is_relative_to(NOS)]
    named = r"nos\.(?!dialect|state|systems|capabilities)\w+"
    assert [name(path) for path in others if re.search(named, path.read_text())] == []


BELOW_ROLES = [path for path in PYTHON if relative(path).startswith(("module_utils/", "library/", "plugins/"))]


@functools.cache
def names_of_roles_and_playbooks() -> set[str]:
    """What only a caller may name: a module can be used without our roles, and a role without our playbooks."""
    found = {path.name for path in PLAYBOOKS} | yaml.safe_load((ROOT / "meta/options.yml").read_text()).keys()
    for role in ROLES:
        entries = yaml.safe_load((role / "meta/argument_specs.yml").read_text())["argument_specs"].values()
        options = {option for entry in entries for option in entry.get("options") or {}}
        defaults = role / "defaults/main.yml"
        options |= set(yaml.safe_load(defaults.read_text()) or {}) if defaults.exists() else set()
        # a view and the variable that it fills have one name
        found |= {option for option in options if option.startswith(f"{role.name}_") and not option.endswith("_view")}
    return found


@pytest.mark.parametrize("path", BELOW_ROLES, ids=relative)
def test_below_roles_no_text_names_their_variables_or_a_playbook(path: Path) -> None:
    """The caller hands names in, by the option `variables`. Pages of documentation may name both."""
    text = re.sub(r'^(DOCUMENTATION|EXAMPLES|RETURN) = r?""".*?^"""', "", path.read_text(), flags=re.DOTALL | re.M)
    words = (word.rstrip(".") for word in re.findall(r"[\w.-]+", text))
    assert [word for word in words if word in names_of_roles_and_playbooks()] == []


def callers(path: Path, *asked: str) -> set[str]:
    """Functions that call one of these names, with their files."""
    functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
    calls = {
        (node.name, call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func))
        for node in functions
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
    }
    return {f"{name(path)} {function}" for function, called in calls if called in asked}


def test_the_engine_alone_asks_for_consent_and_who_uses_the_node() -> None:
    """Others answer (`in_use`), or keep jobs off and look again (`drain`, `stays`); a plan says what disturbs."""
    assert {found for path in FILES for found in callers(path, "in_use", "unless_given")} == {
        "core/converge converge",
        "core/converge refusals",
    }
    assert {found.split()[1] for path in FILES for found in callers(path, "busy")} <= {"in_use", "drain", "stays"}


def test_a_visit_carries_no_tables_that_only_controllers_read() -> None:
    """The keys of Slurm's files are a hundredth of what a visit sends; no node compares such a file."""
    carried = {relative(path) for path in reached(ROOT / "library/node_visit_host.py")}
    assert "module_utils/drawbridge/slurm/takeover/io.py" in carried
    tables = ("slurm/config/words", "slurm/takeover/files", "storage/kinds", "storage/model", "storage/nfs/kind")
    assert not carried & {f"module_utils/drawbridge/{it}.py" for it in tables}


VENDORS_OWN = re.compile(r"/dev/nvidia|/proc/driver/nvidia|nvidia-|nvidia_|0x10de")
CHARTS = ("nodes/gpus/", "kube/releases/")
"""The table of vendors, and the code for a vendor's chart."""


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_the_table_alone_names_a_gpu_vendors_devices_and_tools(path: Path) -> None:
    if not name(path).startswith(CHARTS):
        assert not VENDORS_OWN.search(path.read_text())


KINDS = re.compile(rf"(?<![a-zA-Z])({'|'.join([*CLIENTS, 'lustre'])})(?![a-z])")
OTHERS_WORDS = {
    "kube/closed_list/pods": "kinds of volumes of Kubernetes",
    "nodes/hardware_text": "types of mounts, also of those that the intent can't have",
    "slurm/config/words": "keys of slurm.conf",
    **dict.fromkeys(("telemetry/families", "telemetry/gpfs_text", "telemetry/others"), "names of others' metrics"),
    "telemetry/scrape": "operations in others' metrics",
}


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_storage_alone_names_a_kind_of_file_systems(path: Path) -> None:
    """A new one is its folder, one row of the table, and its role. An expansion may fill the domain of one."""
    if not name(path).startswith("storage/") and path.stem != "expansions" and name(path) not in OTHERS_WORDS:
        assert not KINDS.search(path.read_text())


@pytest.mark.parametrize("kind", CLIENTS)
def test_no_kind_of_file_systems_names_another(kind: str) -> None:
    others = re.compile(rf"(?<![a-zA-Z])({'|'.join({*CLIENTS} - {kind})})(?![a-z])")
    own = [path for path in FILES if path.is_relative_to(HOME / "storage" / kind)]
    assert own and [name(path) for path in own if others.search(path.read_text())] == []
