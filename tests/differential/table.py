# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The cases: values as users write them, and plays with keywords, loops and mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
FORMS: Mapping[str, Any] = {
    "whole": "{{ V }}",
    "keyed": {"key": "{{ V }}", "deep": {"Key": ["{{ V }}", "{{ V }} and text"]}},
}
"""Where a template reads V, which stands for each of VARIABLES."""
VARIABLES = (
    *("DRAINED", "Maintenance", "MTU", "count", "ratio", "huge", "negative", "zero_text", "version", "yes_text"),
    *("bool_text", "none_text", "number_text", "Octal_Mode", "comma_text", "python_text", "json_text", "nothing"),
    *("empty", "blank", "windows", "escapes", "Backslashes", "lines", "trailing", "leading", "unicode", "percent"),
    *("braces", "date", "mixed", "no_items", "gpus", "limits", "no_keys", "Nested"),
)
"""Variables in values/ that differ between the hosts."""
POSITIONS = ("layer", "call", "block", "play")
"""Where a keyword may be: at the layer, at import_role, at a block around it, at the play."""


class Unsafe(str):
    """A text that is no template, whatever it holds."""


class Loader(yaml.SafeLoader):
    """YAML with Ansible's tag !unsafe."""


class Dumper(yaml.SafeDumper):
    """Writes what Loader reads, and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


Loader.add_constructor("!unsafe", lambda _loader, node: Unsafe(node.value))
Dumper.add_representer(Unsafe, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text), style='"'))


def read(path: Path) -> Any:
    """A YAML file of the table."""
    return yaml.load(path.read_text(), Loader)


def dumped(value: Any) -> str:
    """The value as YAML for Ansible."""
    return yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=1000)


def cases(only_sharp: bool = False) -> dict[str, Any]:
    """The values by name: those that are written down, and each of FORMS with each of VARIABLES."""
    written: dict[str, Any] = {}
    for path in sorted(HERE.glob("cases/*.yml")):
        found = read(path)
        assert not found.keys() & written.keys(), f"{path} has a name of another file"
        written |= found
    if only_sharp:
        return {name: written[name] for name in sharp()}
    return written | {f"{form}_{name}": put(value, name) for form, value in FORMS.items() for name in VARIABLES}


def sharp() -> list[str]:
    """The names of the cases that run every time."""
    return read(HERE / "sharp.yml")


def put(value: Any, name: str) -> Any:
    """The form with a variable in place of V."""
    if isinstance(value, dict):
        return {key: put(item, name) for key, item in value.items()}
    if isinstance(value, list):
        return [put(item, name) for item in value]
    return value.replace("V", name)


@dataclass(frozen=True)
class Row:
    """A role of one layer or two, and what becomes of it."""

    name: str
    keywords: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Keywords by POSITIONS; those of `second` are at the second layer, and of `again` at a second call of the role."""
    refused: tuple[str, ...] = ()
    """The visit must refuse the layer and name these."""
    mistake: bool = False
    """Both ways must fail, and the visit before it contacts the host."""
    may_fail: bool = False
    """Some hosts or releases fail: both ways alike."""
    seldom: bool = False
    """It runs on demand only."""
    hosts: str = "nodes"

    @property
    def key(self) -> str:
        """The name as the name of a folder and of a role."""
        return "".join(letter if letter.isalnum() else "_" for letter in self.name.lower())

    @property
    def alone(self) -> bool:
        """Whether it needs a play of its own."""
        return self.may_fail or "play" in self.keywords


def rows(seldom: bool = True) -> list[Row]:
    """All plays of the table, each with its own name. Without `seldom` those that run every time."""
    found = [*keywords(), *named("loops"), *(replace(row, mistake=True, hosts="one") for row in named("mistakes"))]
    assert len({row.key for row in found}) == len(found), "two rows have one name"
    return [row for row in found if seldom or not row.seldom]


def named(file: str) -> Iterator[Row]:
    """Rows of a file, by their own names."""
    for row in read(HERE / f"rows/{file}.yml"):
        flags = {flag: row.pop(flag, False) for flag in ("may_fail", "seldom")}
        yield Row(f"{file}: {row.pop('name')}", row, **flags)


def keywords() -> Iterator[Row]:
    """A row for each position of each keyword. Of those that are alike, the first alone runs every time."""
    found = read(HERE / "rows/keywords.yml")
    alike = [
        {**row, "keyword": {word: value}, "later": at > 0}
        for row in found
        for at, (word, value) in enumerate(row.get("each", {}).items())
    ]
    for number, row in enumerate([*alike, *(row for row in found if "each" not in row)]):
        words, hosts, later = row["keyword"], row.get("hosts", "one"), row.get("later", False)
        names = tuple(row.get("named", list(words)[:1]))
        for position in POSITIONS:
            name = f"keywords: {number} {'+'.join(words)} of the {position}"
            given = {position: words} if "vars" not in row else {position: words, "block": {"vars": row["vars"]}}
            if position in row.get("same", ()):
                yield Row(name, given, hosts=hosts)
            elif position in row.get("refused", ()):
                # the first keyword shows that a refusal is the same at each position
                yield Row(name, given, names, hosts="one", seldom=later or (number > 0 and position != "layer"))
            elif position in row.get("seldom", ()):
                yield Row(name, given, seldom=True, hosts=hosts)
