# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The plan as files of a folder: steps and files of each group of equal hosts, and the cluster's manifests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ..core import hostlist
from ..core.artefact import Artefact
from ..core.file_entry import Entry
from ..core.libraries import library

if TYPE_CHECKING:
    import yaml
else:
    yaml = library("yaml")

INDEX, STEPS, CLUSTER = "index.yml", "steps.txt", "kubernetes"
WIDTH = 120
Shipped = Mapping[tuple[str, str], str]
"""Names of files that come with Drawbridge, by role and text; their text is not repeated."""
INTERPRETER = re.compile("#!.*\\n")
"""The first line of a program, which the role adds."""


@dataclass(frozen=True)
class Group:
    """Hosts that get the same files, and the one whose files are shown."""

    folder: str
    sample: str
    hosts: list[str]


@dataclass(frozen=True)
class Placed:
    """Output of one task for the sample of a group."""

    folder: str
    role: str
    task: str
    artefact: Artefact


def folder_files(groups: Sequence[Group], placed: Sequence[Placed], shipped: Shipped) -> dict[str, str]:
    """Text of all files by their paths."""
    found = {INDEX: _index(groups)}
    for group in groups:
        own = [item for item in placed if item.folder == group.folder]
        found[f"{group.folder}/{STEPS}"] = "\n".join([_head(group), *(_step(item, shipped) for item in own)])
        for item in own:
            for path, entry in item.artefact.files.items():
                if entry.content and not _source(item.role, entry, shipped):
                    found[f"{group.folder}{path}"] = entry.content
    return {**found, **_cluster(placed)}


def _index(groups: Sequence[Group]) -> str:
    content = {it.folder: {"hosts": hostlist.in_order(it.hosts), "sample": it.sample} for it in groups}
    return f"# Which hosts each folder stands for, and the one whose files it holds.\n{_yaml(content)}"


def _head(group: Group) -> str:
    return f"# {hostlist.in_order(group.hosts)}, as on {group.sample}; files are in this folder by their paths.\n"


def _step(item: Placed, shipped: Shipped) -> str:
    files = item.artefact.files.items()
    lines = [*item.artefact.lines, *(_entry(path, it, _source(item.role, it, shipped)) for path, it in files)]
    if item.artefact.objects:
        lines.append(f"apply {CLUSTER}/{item.role}.yml")
    lines += [f"compare with {CLUSTER}/{name}, which an administrator applies" for name in item.artefact.handed]
    lines += [f"values {CLUSTER}/{name}.values.yml" for name in item.artefact.values]
    return "".join(f"{line}\n" for line in (f"{item.role}: {item.task}", *(f"    {line}" for line in lines)))


def _source(role: str, entry: Entry, shipped: Shipped) -> str:
    """Name of the shipped file with the same text; empty if there is none."""
    content = entry.content or ""
    return shipped.get((role, content)) or shipped.get((role, INTERPRETER.sub("", content, count=1)), "")


def _entry(path: str, entry: Entry, source: str) -> str:
    verb = "make directory" if entry.content is None else "write" if entry.content else "make empty"
    return f"{verb} {path} {entry.mode} {entry.owner}:{entry.group}{f' from {source}' if source else ''}"


def _cluster(placed: Iterable[Placed]) -> dict[str, str]:
    """A file of manifests for each role, those for an administrator as they are, and the values of each release."""
    objects: dict[str, list[Any]] = {}
    found: dict[str, str] = {}
    for item in placed:
        objects.setdefault(item.role, []).extend(item.artefact.objects)
        found |= {f"{CLUSTER}/{name}.values.yml": _yaml(it) for name, it in item.artefact.values.items()}
        # kubectl reads these: none may stand for others
        found |= {f"{CLUSTER}/{name}": "".join(map(_document, it)) for name, it in item.artefact.handed.items()}
    manifests = {f"{CLUSTER}/{role}.yml": "".join(_folded(it)) for role, it in objects.items() if it}
    return {**manifests, **found}


def _folded(objects: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Manifests; of those that differ in their name only, the first one and the names of all."""
    alike: dict[str, list[Mapping[str, Any]]] = {}
    for item in objects:
        nameless = {**item, "metadata": {key: it for key, it in item["metadata"].items() if key != "name"}}
        alike.setdefault(json.dumps(nameless, sort_keys=True), []).append(item)
    for items in alike.values():
        names = [item["metadata"]["name"] for item in items]
        also = f"# the same for {hostlist.in_order(names)}\n" if len(names) > 1 else ""
        yield _document(items[0], also)


def _document(item: Mapping[str, Any], remark: str = "") -> str:
    return f"---\n{remark}{_yaml(item)}"


def _yaml(content: Any) -> str:
    style: dict[str, Any] = {"sort_keys": False, "default_flow_style": None, "width": WIDTH, "allow_unicode": True}
    return yaml.dump(content, Dumper=_dumper(), **style)


@cache
def _dumper() -> type[yaml.SafeDumper]:
    """Writes texts of several lines as blocks, and repeats equal lists."""

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Dumper.add_representer(str, text)
    Dumper.add_multi_representer(str, text)
    return Dumper
