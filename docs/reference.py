# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of all keys of the intent, for people: what each takes, its default, an example and where to read on."""

from __future__ import annotations

import dataclasses
import functools
import json
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.options import required
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.model import DOMAINS, OPTIONAL

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs/reference_pages.yml"
FURTHER = ROOT / "docs/reference_examples.yml"
"""Values of keys that no example inventory has."""
WIDEST = 72
"""Signs of an example. A longer one makes the table unreadable."""
KINDS = {str: "text", int: "integer", bool: "true or false"}


@dataclasses.dataclass(frozen=True)
class Section:
    """A mapping of the intent: the path of its first place, and its class."""

    path: str
    cls: type

    @property
    def anchor(self) -> str:
        """The name that the page's links have."""
        return "".join(sign for sign in self.path.lower() if sign.isalnum() or sign in "_-")


def page() -> str:
    """A list of contents, and a section for each mapping, domain by domain."""
    places, guides = sections(), yaml.safe_load(PAGES.read_text())
    contents = (f"{'  ' * place.path.count('.')}- [`{place.path}`](#{place.anchor})\n" for place in places.values())
    parts = (_section(place, places, guides.get(place.path, {})) for place in places.values())
    return f"{''.join(contents)}\n{''.join(parts)}".rstrip("\n") + "\n"


def sections() -> dict[type, Section]:
    """Each class of the intent at its first place."""
    found: dict[type, Section] = {}
    for domain, cls in DOMAINS.items():
        for path, inner in _nested(f"drawbridge_{domain}", cls):
            found.setdefault(inner, Section(path, inner))
    return found


def keys() -> Iterator[tuple[Section, dataclasses.Field[Any]]]:
    """All keys that have a value of their own, each once."""
    for section in sections().values():
        for field, hint in _fields(section.cls):
            if _record_of(hint) is None:
                yield section, field


def _nested(path: str, cls: type) -> Iterator[tuple[str, type]]:
    yield path, cls
    for field, hint in _fields(cls):
        if inner := _record_of(hint):
            sign = {tuple: "[]", dict: ".NAME", Mapping: ".NAME"}.get(typing.get_origin(hint), "")
            yield from _nested(f"{path}.{field.name}{sign}", inner)


def _fields(cls: type) -> list[tuple[dataclasses.Field[Any], Any]]:
    hints = typing.get_type_hints(cls)
    return [(field, required(hints[field.name])[0]) for field in dataclasses.fields(cls)]


def _record_of(hint: Any) -> type | None:
    """The class of a key's mapping, of each mapping in its list, or of each under a name that the site chooses."""
    inner = (hint, *typing.get_args(hint))
    return next((typing.cast(type, cls) for cls in inner if dataclasses.is_dataclass(cls)), None)


def _section(section: Section, places: Mapping[type, Section], guides: Mapping[str, str]) -> str:
    path, summary = section.path, (section.cls.__doc__ or "").strip().splitlines()[0]
    domain = path.removeprefix("drawbridge_")
    absent = f" A site without {OPTIONAL[domain].rstrip(',')} leaves it out." if domain in OPTIONAL else ""
    read_on = f" Read on: {', '.join(f'[{title}]({link})' for title, link in guides.items())}." if guides else ""
    title = f"{'###' if '.' in path else '##'} `{path}`"
    rows = "".join(_row(field, hint, section.cls, places) for field, hint in _fields(section.cls))
    said = summary.removeprefix(f"{path}: ")
    said = said[0].upper() + said[1:]
    return f"{title}\n\n{said}{absent}{read_on}\n\n| key | values | default | meaning |\n|---|---|---|---|\n{rows}\n"


def _row(field: dataclasses.Field[Any], hint: Any, cls: type, places: Mapping[type, Section]) -> str:
    inner = _record_of(hint)
    shown = f"`{field.name}`" if inner else f"`{field.name}: {example(cls, field.name)}`"
    doc = field.metadata["doc"]
    cells = (shown, _values(field, hint, places), _default(field, inner), f"{doc[0].upper()}{doc[1:]}.")
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _values(field: dataclasses.Field[Any], hint: Any, places: Mapping[type, Section]) -> str:
    """What a key takes, in words."""
    origin, args, rules = typing.get_origin(hint), typing.get_args(hint), field.metadata
    if inner := _record_of(hint):
        place = places[inner]
        form = {tuple: "list of ", dict: "by name: ", Mapping: "by name: "}.get(origin, "")
        return f"{form}[`{place.path}`](#{place.anchor})"
    if rules["hosts"]:
        return "hostlist"
    if origin is tuple:
        return f"list: {_scalar(args[0], rules)}"
    return "mapping" if origin in (dict, Mapping) else _scalar(hint, rules)


def _scalar(hint: Any, rules: Mapping[str, Any]) -> str:
    if rules["choices"]:
        return ", ".join(f"`{choice}`" for choice in rules["choices"] if choice)
    low, high = rules["low"], rules["high"]
    if hint is int and low is not None:
        return f"{low} to {high}" if high is not None else f"{low} or more"
    return KINDS.get(hint, "any")


def _default(field: dataclasses.Field[Any], inner: type | None) -> str:
    default = field.metadata["default"]
    if default is dataclasses.MISSING:
        return "required"
    if default is None:
        return "none"
    if inner:
        return "its defaults" if dataclasses.is_dataclass(default) else "none"
    return f"`{_inline(default)}`" if default not in ("", ()) and default != {} else "none"


def example(cls: type, key: str) -> str:
    """A value of the key in one line: one that differs from the default, of the example inventories first."""
    default = _inline(_plain(next(it for it in dataclasses.fields(cls) if it.name == key).metadata["default"]))
    found = [_inline(value) for value in _examples().get((cls, key), ())]
    short = [text for text in found if len(text) <= WIDEST and "{{" not in text]
    told = [text for text in short if text not in (default, "[]", "{}", "null", "''")]
    return (told or short or [""])[0]


@functools.cache
def _examples() -> Mapping[tuple[type, str], list[Any]]:
    files = sorted(ROOT.glob("inventories/example-*/group_vars/all/*.yml"))
    found: dict[tuple[type, str], list[Any]] = {}
    for path in [*files, FURTHER]:
        content = yaml.load(path.read_text(), _Loader)
        for domain, cls in DOMAINS.items():
            _collect(cls, (content or {}).get(f"drawbridge_{domain}"), found)
    return found


def _collect(cls: type, value: Any, found: dict[tuple[type, str], list[Any]]) -> None:
    if not isinstance(value, Mapping):
        return
    for field, hint in _fields(cls):
        if field.name not in value:
            continue
        inner, content = _record_of(hint), value[field.name]
        parts = content if isinstance(content, list) else [content]
        if inner and typing.get_origin(hint) in (dict, Mapping):
            parts = list(content.values())
        for part in parts if inner else ():
            _collect(typing.cast(type, inner), part, found)
        found.setdefault((cls, field.name), []).append(content)


def _inline(value: Any) -> str:
    """YAML in one line."""
    return json.dumps(value) if isinstance(value, (bool, int)) else _flow(_plain(value))


def _flow(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False)
    return text.removesuffix("\n...\n").strip()


def _plain(value: Any) -> Any:
    """What YAML can write. A record, and a key without a default, has no value to show."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    return value if isinstance(value, (str, int, list)) else None


class _Loader(yaml.SafeLoader):
    """Reads files that have vaults."""


_Loader.add_multi_constructor("!", lambda *_: None)
