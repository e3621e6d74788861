# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Objects of projects in Kubernetes: made and changed as the intent has them; volumes and claims that left it, deleted.

Deleting a volume or a claim deletes no data: a volume is a directory, and its policy is Retain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Callable

from ...core.converge import Step
from ...core.names import PROJECT
from ..quantity import quantity

Json = dict[str, Any]
Key = tuple[str, str, str]
"""Kind, namespace ("" for none) and name."""

VOLUME, CLAIM, SPACE = "PersistentVolume", "PersistentVolumeClaim", "Namespace"
OF_PROJECTS = (CLAIM, VOLUME)
"""Kinds of which those leave that the intent has no more. Claims go first: a volume stays as long as it has one."""
LOST = ("Released", "Failed")
"""Phases of a volume whose claim was deleted: by itself it takes no other one, not even of the same name."""
FIXED = ("spec.hostPath.path", "spec.volumeName", "spec.storageClassName", "spec.accessModes", "roleRef.name")
"""What Kubernetes lets no one change, by the beginnings of paths."""
NOT_SAID = ("apiVersion", "kind", "metadata")


@dataclass(frozen=True)
class Item:
    """An object: what it says where the intent says something, by path; whether it is being deleted, or is lost."""

    said: Mapping[str, str]
    ending: bool = False
    lost: bool = False


@dataclass(frozen=True)
class Space:
    """The namespace of a project that has ended."""

    given: bool
    """Whether it still says what pods may have."""
    removed: bool = False
    holds: str = ""
    """A pod or a claim in it; only of a removed project."""


@dataclass(frozen=True)
class Objects:
    """Objects of projects, and namespaces of projects that have ended."""

    items: Mapping[Key, Item]
    ended: Mapping[str, Space] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """A line for each word of each object."""
        spaces = [f"Namespace {name} gives pods directories" for name, it in sorted(self.ended.items()) if it.given]
        return [*spaces, *(line for key, item in sorted(self.items.items()) for line in _lines(key, item))]


def _lines(key: Key, item: Item) -> Iterator[str]:
    about = f"{label(key)}{' ending' if item.ending else ''}{' without its claim' if item.lost else ''}"
    yield about
    yield from (f"{label(key)} {path}: {value}" for path, value in sorted(item.said.items()))


def label(key: Key) -> str:
    """An object in words."""
    kind, space, name = key
    return f"{kind} {space}/{name}" if space else f"{kind} {name}"


def key_of(item: Json) -> Key:
    """Where an object is."""
    about = item["metadata"]
    return item["kind"], about.get("namespace", ""), about["name"]


def wanted(manifests: list[Json]) -> Objects:
    """The intent's objects."""
    return Objects({key_of(it): Item(dict(_said(it))) for it in manifests})


def found(live: Json, want: Item | None) -> Item:
    """An object of the API server, in the words of the intent where it has them."""
    said = dict(_said(live))
    kept = {path: said.get(path, "") for path in want.said} if want else {}
    if want:
        kept = {path: want.said[path] if _same(value, want.said[path]) else value for path, value in kept.items()}
        kept |= {path: value for path, value in said.items() if path.startswith("subjects") and path not in kept}
    phase = (live.get("status") or {}).get("phase")
    lost = live["kind"] == VOLUME and phase in LOST
    return Item(kept, bool(live["metadata"].get("deletionTimestamp")), lost)


def _said(item: Json) -> Iterator[tuple[str, str]]:
    """All words of an object by their path. Its label says whose it is."""
    labels = (item["metadata"].get("labels") or {}).get(PROJECT)
    if labels:
        yield "project", labels
    for key, value in item.items():
        if key not in NOT_SAID and key != "status":
            yield from _flat(key, value)


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(f"{path}.{key}", inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _flat(f"{path}[{index}]", inner)
    else:
        yield path, str(value)


def _same(live: str, said: str) -> bool:
    """The API server writes 1024Gi as 1Ti, and 1000 as 1k."""
    number = quantity(said)
    return live == said or (number is not None and number == quantity(live))


def plan(have: Objects, want: Objects) -> list[Step[Objects]]:
    """What left the intent goes first; then volumes before their claims, as the intent has them.

    A run deletes no namespace: whoever may do that may end all that runs in one.
    """
    closing = [_close(name) for name, space in have.ended.items() if space.given]
    return [*closing, *_leaving(have, want), *_coming(have, want), *_staying(have)]


def _close(name: str) -> Step[Objects]:
    def becomes(state: Objects) -> Objects:
        return replace(state, ended={**state.ended, name: replace(state.ended[name], given=False)})

    return Step(f"close Namespace {name}: its project has ended", becomes, ("CLOSE", (SPACE, "", name)))


def _staying(have: Objects) -> Iterator[Step[Objects]]:
    for name, space in have.ended.items():
        if space.removed:
            why = f"{space.holds} is in it" if space.holds else f"an administrator runs kubectl delete namespace {name}"
            yield Step(f"end of Namespace {name}, whose project is removed", lambda state: state, pending=why)


def _leaving(have: Objects, want: Objects) -> Iterator[Step[Objects]]:
    for kind in OF_PROJECTS:
        for key in sorted(it for it in have.items if it[0] == kind and it not in want.items):
            if have.items[key].ending:
                yield _ending(key)
            else:
                yield Step(
                    f"delete {label(key)}: no open project has it; its data stays", _without(key), ("DELETE", key)
                )


def _ending(key: Key) -> Step[Objects]:
    why = "pods still mount it" if key[0] == CLAIM else "its claim has not ended"
    return Step(f"end of {label(key)}", _without(key), pending=f"{why}; it ends in a later run")


def _coming(have: Objects, want: Objects) -> Iterator[Step[Objects]]:
    for key, item in want.items.items():
        live = have.items.get(key)
        becomes = _with(key, item)
        if live is None:
            yield Step(f"make {label(key)}", becomes, ("APPLY", key))
        elif live.ending:
            yield _ending(key)
        elif live.lost:
            yield Step(f"free {label(key)} for a new claim: the old one was deleted", becomes, ("PATCH", key))
        elif differing := [path for path, value in item.said.items() if live.said.get(path) != value] or (
            ["subjects"] if set(live.said) - set(item.said) else []
        ):
            yield _change(key, differing, live, item)


def _change(key: Key, paths: list[str], live: Item, want: Item) -> Step[Objects]:
    first = paths[0]
    changed = (
        f"{first} of {label(key)} from {live.said.get(first) or 'nothing'} to {want.said.get(first) or 'the intent'}"
    )
    fixed = next((path for path in paths if path.startswith(FIXED)), "")
    refused = (
        f"{label(key)} has {fixed}: {live.said.get(fixed) or 'nothing'}, and Kubernetes lets no one change it; "
        "set state: closed for the project, run this again, and open it"
        if fixed
        else ""
    )
    return Step(f"change {changed}", _with(key, want), ("APPLY", key), refused=refused)


def _without(key: Key) -> Callable[[Objects], Objects]:
    return lambda state: replace(state, items={it: item for it, item in state.items.items() if it != key})


def _with(key: Key, item: Item) -> Callable[[Objects], Objects]:
    return lambda state: replace(state, items={**state.items, key: item})
