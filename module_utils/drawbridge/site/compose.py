# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Composes the intent from variables: the shape of each domain first, then what entries of one stand for in others.

A process keeps what it composed by the evaluated values, so that hosts with different values get different objects.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ..core.faults import Fault, IntentError
from ..core.options import NONE
from ..core.reader import Reader, lacks
from ..storage.kinds import KINDS
from .model import DOMAINS, ENTRIES, EXPANSIONS, FILESYSTEMS, OPTIONAL

Variables = Mapping[str, Any]
"""Evaluated values by the ends of their names: domains, and single entries of a domain's list.

A domain that is missing is a part that the site lacks.
"""

Viewed = TypeVar("Viewed", bound=Callable[..., Any])
APART: dict[Callable[..., Any], Sequence[Callable[..., Any]]] = {}
"""Expansions that views leave out."""
KEPT: dict[tuple[Any, str], Any] = {}
"""Domains and views of this process, by what makes them and by the text of all that they are made of.

Many views of a host read the same domains, and several tasks of a host read the same view. Texts are compared, because
equal values may differ in type: 1 and true.
"""
KEPT_MOST = 64
"""Enough for the views of one host. A process that goes on to other hosts needs no more at a time."""


@dataclass
class Composed:
    """Parts of the intent, and their faults."""

    parts: dict[str, Any] = field(default_factory=dict)
    """By domain; None for one that the site lacks, and for one that is broken."""
    faults: list[Fault] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    """Domains with faults: what reads them can't be judged."""


def compose(variables: Variables, domains: Iterable[str] = tuple(DOMAINS), expand: bool = True) -> Composed:
    """These domains, with what others add to them. `expand=False` leaves long lists of hosts as they are."""
    found = Composed()
    for domain in needed(domains, present(variables)):
        _shape(found, domain, variables, expand)
    for expansion in EXPANSIONS:
        if found.parts.keys() >= {*reads(expansion)}:
            _expand(found, expansion)
    return found


def apart_from(*expansions: Callable[..., Any]) -> Callable[[Viewed], Viewed]:
    """Mark a view that reads nothing of what these expansions add.

    Nodes' views would else cost more, and change, with each entry that concerns other hosts alone.
    """

    def marked(view: Viewed) -> Viewed:
        APART[view] = expansions
        return view

    return marked


def needed(
    domains: Iterable[str], have: Container[str] = DOMAINS, without: Sequence[Callable[..., Any]] = ()
) -> list[str]:
    """The domains from which these ones are composed, with themselves, in the order of DOMAINS.

    An expansion of a part that the site does not `have` needs nothing else, nor does one that is left out.
    """
    wanted = set(domains)
    for expansion in reversed([it for it in EXPANSIONS if it not in without]):
        lacks_none = all(it in have or it not in OPTIONAL or may_be_none(expansion, it) for it in reads(expansion))
        if first(expansion) in wanted and lacks_none:
            wanted |= set(reads(expansion))
    return [domain for domain in DOMAINS if domain in wanted]


def _shape(found: Composed, domain: str, variables: Variables, expand: bool) -> None:
    further = entries(domain, variables)
    if domain in OPTIONAL and domain not in variables and not further:
        found.parts[domain] = None
        return
    reader, whole = Reader(expand), DOMAINS[domain]
    part = reader.record(whole, variables.get(domain, {} if further else None), f"drawbridge_{domain}")
    if further:
        [of_entry, _end] = typing.get_args(typing.get_type_hints(whole)[domain])
        more = [reader.record(of_entry, variables[name], f"drawbridge_{name}") for name in further]
        part = None if reader.faults else replace(part, **{domain: (*getattr(part, domain), *more)})
    found.parts[domain] = part
    found.faults += reader.faults
    if reader.faults:
        found.broken.add(domain)


def _expand(found: Composed, expansion: Callable[..., Any]) -> None:
    into = first(expansion)
    if found.broken & set(reads(expansion)):
        found.broken.add(into)
    elif not lacking(expansion, found.parts):
        try:
            found.parts[into] = expansion(**arguments(expansion, found.parts))
        except IntentError as err:
            found.faults += err.faults
            found.broken.add(into)


def entries(domain: str, names: Iterable[str]) -> list[str]:
    """Of these names the variables that are each one entry more of a domain's list, in their order there."""
    beginning = ENTRIES.get(domain)
    return sorted(name for name in names if name.startswith(beginning)) if beginning else []


def whole(function: Callable[..., Any], found: Composed) -> bool:
    """Whether the site has all that a function needs, and no part that it reads is broken."""
    return not (found.broken & set(reads(function)) or lacking(function, found.parts))


def lacking(function: Callable[..., Any], parts: Mapping[str, Any]) -> list[str]:
    """The parts that a function needs and the site lacks. One that may be None says so by its parameter's type."""
    return [it for it, part in arguments(function, parts).items() if part is None and not may_be_none(function, it)]


@functools.cache
def parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """The parameters of a rule, a view or an expansion: their names are parts of the intent."""
    return inspect.signature(function).parameters


def first(expansion: Callable[..., Any]) -> str:
    """The domain that an expansion returns anew."""
    return next(iter(parameters(expansion)))


@functools.cache
def reads(function: Callable[..., Any]) -> Sequence[str]:
    """The domains that a function reads. The parameter FILESYSTEMS stands for those of all kinds of file systems."""
    return [it for name in parameters(function) for it in (KINDS if name == FILESYSTEMS else (name,)) if it in DOMAINS]


def arguments(function: Callable[..., Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """The parts that a function reads, by its parameters."""
    mounted = {name: parts[name] for name in KINDS if parts.get(name) is not None}
    every = {**parts, FILESYSTEMS: mounted}
    return {name: every[name] for name in parameters(function) if name in every}


def part(domain: str, raw: Any) -> Any:
    """One domain, without what others add. Raises IntentError for its shape."""
    return _parts({domain: raw}, [domain])[domain]


def derive(view: Callable[..., Any], variables: Variables, given: Mapping[str, Any]) -> Any:
    """The view of these variables, with its other arguments. Raises IntentError for variables of the wrong shape.

    Only load() checks rules. Ansible evaluates views for each host and task, so the cost must not grow with the number
    of hosts. A part that the site lacks is None, which the type of the view's parameter must have.
    """
    domains, without = reads(view), APART.get(view, ())
    made_of = _of(variables, domains, without)

    def made() -> Any:
        parts = _parts(made_of, domains, without)
        if found := lacking(view, parts):
            raise IntentError([lacks(f"drawbridge_{name}") for name in found])
        return view(**arguments(view, parts), **given)

    return _kept(view, (made_of, given), made)


def _of(variables: Variables, domains: Iterable[str], without: Sequence[Callable[..., Any]] = ()) -> dict[str, Any]:
    """The variables from which these domains are composed. A template may have None for one that the site lacks."""
    have = {name for name, raw in variables.items() if raw is not None}
    return {name: variables[name] for name in variables_of(needed(domains, present(have), without), have)}


def present(have: Collection[str]) -> set[str]:
    """These names, and the domains that their entries make."""
    return {*have, *(domain for domain in ENTRIES if entries(domain, have))}


def variables_of(domains: Iterable[str], have: Collection[str]) -> list[str]:
    """The variables of these domains among those that a site has."""
    return [it for domain in domains for it in (domain, *entries(domain, have)) if it in have]


def _parts(variables: Variables, domains: Sequence[str], without: Sequence[Callable[..., Any]] = ()) -> dict[str, Any]:
    """Each domain alone, because views read different ones."""

    def made(domain: str, made_of: Variables) -> Any:
        found = compose(made_of, [domain], expand=False)
        if found.faults:
            raise IntentError(found.faults)
        return found.parts[domain]

    found = {}
    for domain in domains:
        made_of = _of(variables, [domain], without)
        found[domain] = _kept(DOMAINS[domain], made_of, functools.partial(made, domain, made_of))
    return found


def _kept(maker: Any, made_of: Any, make: Callable[[], Any]) -> Any:
    """The value that is kept, or a new one."""
    key = maker, repr(made_of)
    if key not in KEPT:
        if len(KEPT) == KEPT_MOST:
            del KEPT[next(iter(KEPT))]
        KEPT[key] = make()
    return KEPT[key]


@functools.cache
def may_be_none(function: Callable[..., Any], name: str) -> bool:
    """Whether a function works without this part of the intent."""
    return NONE in typing.get_args(typing.get_type_hints(function).get(name))
