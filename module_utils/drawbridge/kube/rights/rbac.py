# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of RBAC: what they grant, one right at a time, and whether they allow a right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Rule = Mapping[str, Any]
ALL = "*"
ROLE = "drawbridge-installer"
"""Name of the ClusterRole and of the Roles with the rights of a run."""
ABOUT = ("apiVersion", "kind", "metadata", "status")


@dataclass(frozen=True, order=True)
class Right:
    """One verb on one resource, cluster-wide ("") or in one namespace, on one object or on all of them ("")."""

    namespace: str
    group: str
    resource: str
    name: str
    verb: str


@dataclass(frozen=True)
class Grant:
    """A rule that a role's tasks need, cluster-wide ("") or in one namespace, on the named objects or on all (None)."""

    group: str
    resource: str
    verbs: tuple[str, ...]
    names: tuple[str, ...] | None = None
    namespace: str = ""

    def rights(self) -> Iterator[Right]:
        """Its rights, one by one."""
        for name in ("",) if self.names is None else self.names:
            yield from (Right(self.namespace, self.group, self.resource, name, verb) for verb in self.verbs)


def rules(grants: Iterable[Grant]) -> list[Json]:
    """Rules of a Role or ClusterRole; grants of the same objects become one rule.

    A grant of no object is no rule, because a rule with an empty list of names grants all objects.
    """
    merged: dict[tuple[str, str, tuple[str, ...] | None], dict[str, None]] = {}
    for grant in grants:
        if grant.names == ():
            continue
        verbs = merged.setdefault((grant.group, grant.resource, grant.names), {})
        verbs.update(dict.fromkeys(grant.verbs))
    return [
        {
            "apiGroups": [group],
            "resources": [resource],
            "verbs": list(verbs),
            **({"resourceNames": list(names)} if names else {}),
        }
        for (group, resource, names), verbs in merged.items()
    ]


def rights_of(given: Iterable[Rule], namespace: str) -> Iterator[Right]:
    """All rights of rules that have no wildcards."""
    for rule in given:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                names = tuple(rule.get("resourceNames") or ()) or None
                yield from Grant(group, resource, tuple(rule["verbs"]), names, namespace).rights()


def allows(given: Iterable[Rule], right: Right) -> bool:
    """Whether one of the rules, which are in force in the right's namespace, allows it."""
    return any(_allows(rule, right) for rule in given)


def _allows(rule: Rule, right: Right) -> bool:
    verbs, groups, resources = (rule.get(key) or () for key in ("verbs", "apiGroups", "resources"))
    names = rule.get("resourceNames") or ()
    return (
        (right.verb in verbs or ALL in verbs)
        and (right.group in groups or ALL in groups)
        and _has(resources, right.resource)
        and (not names or right.name in names)
    )


def _has(resources: Iterable[str], wanted: str) -> bool:
    """A rule may write */scale for this subresource of all resources."""
    _sep, slash, sub = wanted.partition("/")
    return any(it in (wanted, ALL) or (slash and it == f"{ALL}/{sub}") for it in resources)


def sentences(rights: Iterable[Right]) -> list[str]:
    """The rights in words, those of one resource together."""
    together: dict[tuple[str, str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for right in rights:
        verbs, names = together.setdefault((right.namespace, right.group, right.resource), ({}, {}))
        verbs[right.verb] = None
        names.update({right.name: None} if right.name else {})
    return [
        f"{_and(verbs)} {resource}{f'.{group}' if group else ''}"
        + (f" {_and(names)}" if names else "")
        + (f" in {namespace}" if namespace else "")
        for (namespace, group, resource), (verbs, names) in together.items()
    ]


def same(live: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether an object says what it should, and nothing else; a namespace only needs the labels and annotations.

    A condition that was added to a policy may switch it off.
    """
    if wanted["kind"] != "Namespace":
        return _content(live) == _content(wanted)
    return all(
        (live["metadata"].get(kind) or {}).get(key) == value
        for kind in ("labels", "annotations")
        for key, value in wanted["metadata"].get(kind, {}).items()
    )


def _content(item: Mapping[str, Any]) -> Json:
    return {key: value for key, value in item.items() if key not in ABOUT}


def _and(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
