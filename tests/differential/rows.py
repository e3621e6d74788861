# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The plays for keywords, loops and mistakes, and what both runs must have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.collection.installed import NAME
from tests.differential.files import Site, entry, visit_task
from tests.differential.runs import Run, different
from tests.differential.table import Row

OF_ENTRY = ("path", "content", "mode", "files")
"""Words of a layer in the table that are no keywords: they are options of its file, below the folder `here`."""
TOGETHER, REFUSALS, MISTAKES = "together", "refusals", "mistakes"
"""Plays of rows that need none of their own. A visit costs much more than its layers, and names all that is wrong."""
NO_PYTHON = {"ansible_python_interpreter": "/nonexistent"}
RESCUE = [{"name": "Go on", "ansible.builtin.debug": {"msg": "it failed"}, "tags": ["always"]}]
"""A host that fails would leave the plays after this one."""


def play_of(row: Row) -> str:
    """The name of the play that has the row."""
    if row.alone:
        return row.name
    return MISTAKES if row.mistake else REFUSALS if row.refused else f"{TOGETHER} on {row.hosts}"


def write(site: Site, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Write the role of each row; return the plays."""
    plays: dict[str, dict[str, Any]] = {}
    for row in rows:
        name = play_of(row)
        if name not in plays:
            begun = [{"block": [visit_task()], "rescue": RESCUE}]
            handlers = [{"name": "Restart nothing", "ansible.builtin.debug": {"msg": "restarted"}}]
            head = {"name": name, "hosts": row.hosts, "gather_facts": False, "connection": "local"}
            own = {"vars": NO_PYTHON} if name == MISTAKES else {}
            plays[name] = {**head, **own, **row.keywords.get("play", {}), "tasks": begun, "handlers": handlers}
        plays[name]["tasks"].append(_block(site, row))
    return list(plays.values())


def _block(site: Site, row: Row) -> dict[str, Any]:
    """The calls of the row's role."""
    role, words = f"row_{row.key}", row.keywords
    layers = [name for name in ("layer", "second") if name in words] or ["layer"]
    site.role(role, [_layer(name, words.get(name, {})) for name in layers])
    tags = ["never", "apart", *(["refused"] if row.refused else [])]
    calls = [
        {"ansible.builtin.import_role": {"name": role}, **call, "tags": [*tags, *call.get("tags", [])]}
        for call in (words.get("call", {}), *([words["again"]] if "again" in words else []))
    ]
    block = dict(words.get("block", {}))
    here = f"{{{{ into }}}}/{{{{ inventory_hostname }}}}/{row.key}"
    return {"block": calls, "rescue": RESCUE, **block, "vars": {"here": here, **block.get("vars", {})}}


def _layer(name: str, words: Mapping[str, Any]) -> dict[str, Any]:
    """A layer that writes one file, for each item of its loop."""
    keywords = {word: value for word, value in words.items() if word not in OF_ENTRY}
    looped = any(word == "loop" or word.startswith("with_") for word in keywords)
    path = words.get("path", f"{name}-{{{{ (item | string | hash('md5'))[:8] }}}}" if looped else name)
    content = words.get("content", "{{ inventory_hostname }} {{ Speed }} {{ item }}")
    options = {"mode": words["mode"]} if "mode" in words else {}
    one = entry(path if path.startswith("/") else f"{{{{ here }}}}/{path}", content, **options)
    arguments = {"name": "case", "directory": "{{ into }}", "files": words.get("files", [one])}
    args = keywords.get("args")
    if isinstance(args, dict):
        arguments = {name: value for name, value in arguments.items() if name not in args}
    module = {} if "local_action" in keywords else {f"{NAME}.host_files": arguments}
    return {"name": f"Write {name}", **module, **keywords}


def compare(row: Row, plain: Run, visit: Run) -> list[str]:
    """Why the row's outcome is not the expected one; empty if it is."""
    said = visit.said(play_of(row), "node_visit")
    own = [part for part in re.split(r"\n(?=row_)", said) if part.startswith(f"row_{row.key}, task")]
    wrote = visit.below(f"/{row.key}/")
    tasks = plain.states(play_of(row), "host_files", f"row_{row.key} : ")
    if row.refused:
        names = {name for part in own for name in re.findall(r"can't have ([^;]*);", part)}
        expected = all(set(found.split(", ")) == set(row.refused) for found in names) and names
        found = [] if expected else [f"the visit refused {names or 'nothing'}: {own or said!r}"]
        return found + ([f"the visit wrote {sorted(wrote)}"] if wrote else [])
    if row.mistake:
        found = [] if tasks and set(tasks.values()) == {"failed"} else [f"plain Ansible has {tasks}"]
        found += [] if own else [f"the visit did not refuse it: {said!r}"]
        return found + ([f"the visit wrote {sorted(wrote)}"] if wrote else [])
    made = plain.below(f"/{row.key}/")
    others = [f"a visit alone wrote {path}" for path in sorted(wrote.keys() - made.keys())]
    return _same(row, tasks, visit, own) + different(sorted(made), made, wrote) + others


def _same(row: Row, tasks: Mapping[str, str], visit: Run, own: Sequence[str]) -> list[str]:
    """Differences in how the tasks of the row and the visit ended."""
    ended = visit.states(play_of(row), "node_visit")
    if not row.alone and set(tasks.values()) != {"done"}:
        return [f"plain Ansible has {tasks}: a row that may fail needs a play of its own"]
    if (own and not row.may_fail) or not ended or (row.alone and tasks != ended):
        return [f"plain Ansible has {tasks}, a visit has {ended}: {own}"]
    return []
