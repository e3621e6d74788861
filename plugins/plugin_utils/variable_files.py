# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The files in which Ansible finds variables, and the lines of keys in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from ansible.errors import AnsibleError

from ..module_utils.drawbridge.core.faults import HIDDEN, Fault
from .inventories import first_line, plain
from .releases import TRUSTED, evaluated

VAULT = "correct it, or add --ask-vault-pass or --vault-password-file FILE"
TEMPLATE = "correct the template, or define the variables in it"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PARTS = "parts"
"""Folder of imported playbooks. Ansible reads variables beside them too."""


@dataclass(frozen=True)
class Source:
    """A place that sets variables of a group, a host or all hosts."""

    place: str
    variables: Mapping[str, Any]
    kind: str = ""
    owner: str = "all"
    stray: bool = True
    """Whether the intent must not be there."""


def variable_files(inventories: list[Path], playbooks: list[Path]) -> dict[Path, Source]:
    """Files in which Ansible finds variables, not read yet, with their names for messages.

    The intent must be in the inventory's files for all hosts. Files for all hosts beside a playbook are refused too:
    they win over the inventory's, and hold for that playbook only.
    """
    found = {}
    for root in inventories:
        for path in files_of_variables(root):
            if is_read(path.relative_to(root)):
                found[path] = source(path.relative_to(root), str(path.relative_to(root)))
    known = {root.resolve() for root in inventories}
    for folder in playbooks:
        for root in (folder, folder / PARTS):
            for path in files_of_variables(root) if root.resolve() not in known else ():
                if is_read(path.relative_to(root)):
                    name = str(path.relative_to(folder.parent))
                    found[path] = replace(source(path.relative_to(root), name), stray=True)
    return found


def source(path: Path, place: str) -> Source:
    """The source of a path beside an inventory, such as group_vars/nodes.yml or host_vars/gpu01/rails.yml."""
    kind, entry, *inner = path.parts
    owner = entry if inner else re.sub(r"\.(ya?ml|json)$", "", entry)
    return Source(place, {}, kind, owner, is_stray(path))


def files_of_variables(root: Path) -> Iterator[Path]:
    """All files below group_vars and host_vars. Follows links as Ansible does, but not in circles."""

    def below(folder: Path, above: tuple[Path, ...]) -> Iterator[Path]:
        real = folder.resolve()
        for path in sorted(folder.iterdir()) if real not in above else ():
            if path.is_dir():
                yield from below(path, (*above, real))
            elif path.is_file():
                yield path

    for name in ("group_vars", "host_vars"):
        if (root / name).is_dir():
            yield from below(root / name, ())


def is_stray(path: Path) -> bool:
    """Whether Ansible reads this file, such as group_vars/nodes/x.yml, and not for all hosts."""
    return is_read(path) and path.parts[1].split(".")[0] != "all"


def is_read(path: Path) -> bool:
    """Whether Ansible reads this file. It skips hidden files, names that end with ~ and other endings."""
    left = any(part.startswith(".") or part.endswith("~") for part in path.parts)
    return not left and path.suffix in ("", ".yml", ".yaml", ".json")


def file_faults(loader: Any, files: Iterable[Path]) -> Iterator[Fault]:
    """Faults of files of variables that Ansible can't read. Since 2.19 it names neither the file nor the line."""
    for path in files:
        shown = Path(plain(str(path)))
        try:
            content = loader.load_from_file(str(path), cache="all", unsafe=True, **TRUSTED)
        except AnsibleError as err:
            locked = path.read_bytes().startswith(b"$ANSIBLE_VAULT")
            repair = VAULT if locked else "correct it, and run this again"
            yield Fault("inventory", shown, first_line(err), repair)
        else:
            if content and not isinstance(content, Mapping):
                yield Fault("inventory", shown, "it is no mapping of variables", "write each as NAME: VALUE")


def duplicate_faults(files: Iterable[Path]) -> Iterator[Fault]:
    """Faults of keys that a mapping has twice. Ansible warns, and the last value wins.

    Its setting that refuses them refuses keys that override those of a merge (<<) too.
    """
    for path in files:
        left, seen = [_tree(path)], set()
        while left:
            node = left.pop()
            if node is None or id(node) in seen:
                continue
            seen.add(id(node))
            pairs = node.value if isinstance(node, yaml.MappingNode) else []
            lines: dict[str, int] = {}
            for key, value in pairs:
                line = key.start_mark.line + 1
                if (first := lines.setdefault(str(key.value), line)) != line:
                    reason = f"its mapping has {key.value} on line {first} already, and the last value wins"
                    yield Fault("inventory", Path(f"{plain(str(path))}:{line}"), reason, f"keep one {key.value}")
                left.append(value)
            left += node.value if isinstance(node, yaml.SequenceNode) else []


def template_faults(templar: Any, key: str, raw: Any) -> Iterator[Fault]:
    """Faults of templates in a value that Ansible can't evaluate, each by its own key."""
    if isinstance(raw, Mapping):
        inner = [(f"{key}.{name}", value) for name, value in raw.items()]
    else:
        inner = [(f"{key}[{at}]", value) for at, value in enumerate(raw)] if isinstance(raw, list) else []
    for name, value in inner:
        yield from template_faults(templar, name, value)
    if not inner:
        try:
            str(evaluated(templar, raw))  # before 2.19 a secret is read only here
        except AnsibleError as err:
            shown, repair = (str(raw), TEMPLATE) if isinstance(raw, str) else (HIDDEN, VAULT)
            yield Fault(key, shown, first_line(err), repair)


def positions(files: Iterable[Path], keys: Iterable[str]) -> dict[str, tuple[Path, int]]:
    """The file and line of each key, such as drawbridge_slurm.partitions[0].name, or of its nearest part.

    Of several files that have the variable the last one wins, as for Ansible. A key without a file is left out.
    """
    wanted, found = [*keys], {}
    for path in files if wanted else ():
        tree = _tree(path)
        found |= {key: (path, line) for key in wanted if (line := line_of(tree, key))}
    return found


def line_of(tree: yaml.Node | None, key: str) -> int:
    """The line, from 1, of a key or of its nearest part. 0: the file lacks the variable."""
    name, *inner = re.findall(r"[^.\[\]]+", key)
    found = _child(tree, name)
    line, node = found if found else (0, None)
    for word in inner:
        if not (found := _child(node, word)):
            break
        line, node = found
    return line


def _child(node: yaml.Node | None, word: str) -> tuple[int, yaml.Node] | None:
    """Line and content of a key or of an element of a list. Of equal keys the last one wins."""
    if isinstance(node, yaml.MappingNode):
        pairs = [(key.start_mark.line + 1, value) for key, value in node.value if key.value == word]
        return pairs[-1] if pairs else None
    if isinstance(node, yaml.SequenceNode) and word.isdigit() and int(word) < len(node.value):
        element = node.value[int(word)]
        return element.start_mark.line + 1, element
    return None


def _tree(path: Path) -> yaml.Node | None:
    """The file with the positions of its parts. None: it is encrypted, or no YAML."""
    try:
        return yaml.compose(path.read_text(errors="replace"), LOADER)
    except yaml.YAMLError:
        return None
