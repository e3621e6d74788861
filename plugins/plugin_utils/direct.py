# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Values of simple templates, without Ansible's templating.

Jinja compiles each template for each host, which is most of what a visit costs the controller. Nearly all templates of
the roles are a path, a view or a comparison of values that are known. These are read from the tree of their expression.
All others raise Unknown, and Ansible evaluates them.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, TemplateError, nodes

from .direct_filters import FILTERS, MISSING, Unknown, member, pairs, plain, refuse, view
from .direct_lookups import LOOKUPS
from .releases import trusted

JINJA = Environment(keep_trailing_newline=True, autoescape=False)
MARKS = ("{{", "{%", "{#")
COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "gteq": operator.ge,
    "lt": operator.lt,
    "lteq": operator.le,
    "in": lambda one, other: one in other,
    "notin": lambda one, other: one not in other,
}


class Direct:
    """Evaluates what needs nothing but these values. `variables` are all of the host, evaluated or not."""

    def __init__(self, loader: Any, values: Mapping[str, Any], variables: Mapping[str, Any]) -> None:
        self._loader, self._values, self._variables = loader, values, variables

    def value(self, raw: Any, other: Callable[[Any], Any] = refuse) -> Any:
        """The value of a text, list or mapping with templates in it, as plain data.

        `other` evaluates parts that this can't. Without it they raise Unknown.
        """
        if isinstance(raw, dict):
            return {str(key): self.value(item, other) for key, item in raw.items()}
        if isinstance(raw, (list, tuple)):
            return [self.value(item, other) for item in raw]
        try:
            return self._part(raw)
        except Unknown:
            return other(raw)

    def _part(self, raw: Any) -> Any:
        if isinstance(raw, str):
            if not any(mark in raw for mark in MARKS):
                return str(raw)
            return self._text(raw) if trusted(raw) else refuse()
        return raw if is_scalar(raw) else refuse()

    def holds(self, condition: Any) -> bool:
        """Whether a condition of `when` is true. Raises Unknown, also for a value that is neither true nor false."""
        if not isinstance(condition, str) or not trusted(condition):
            refuse()
        parts = parsed(f"{{{{ {condition} }}}}")
        found = self._of(parts[0]) if len(parts) == 1 else refuse()
        return found if isinstance(found, bool) else refuse()

    def _text(self, template: str) -> Any:
        """A template that is one expression has any type, one with text around it is a text."""
        parts = parsed(template)
        found = [part.data if isinstance(part, nodes.TemplateData) else self._of(part) for part in parts]
        if len(found) == 1:
            return plain(found[0])
        return "".join(found) if all(isinstance(part, str) for part in found) else refuse()

    def _of(self, node: nodes.Node) -> Any:
        found = self._found(node)
        return refuse() if found is MISSING else found

    def _found(self, node: nodes.Node) -> Any:
        """The node's value, or MISSING."""
        if isinstance(node, nodes.Name):
            return self._named(node.name)
        if isinstance(node, (nodes.Getattr, nodes.Getitem)):
            key = node.attr if isinstance(node, nodes.Getattr) else self._of(node.arg)
            return member(self._of(node.node), key)
        read = READ.get(type(node))
        return read(self, node) if read else refuse()

    def _named(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        found = self._variables.get(name, MISSING)
        return found if found is MISSING or is_scalar(found) else refuse()

    def _filtered(self, node: nodes.Filter) -> Any:
        if node.node is None or node.dyn_args or node.dyn_kwargs:
            raise Unknown
        given = [self._of(argument) for argument in node.args]
        named = {str(argument.key): self._of(argument.value) for argument in node.kwargs}
        if node.name == "default" and len(given) == 1 and not named:
            found = self._found(node.node)
            return given[0] if found is MISSING else found
        apply = FILTERS.get(node.name) or view(node.name)
        try:
            return apply(self._of(node.node), *given, **named)
        except Unknown:
            raise
        except Exception as err:  # Ansible evaluates it again, and words what is wrong
            raise Unknown from err

    def _called(self, node: nodes.Call) -> Any:
        """`dict(pairs)`, `mapping.items()`, and the lookups of direct_lookups."""
        if node.dyn_kwargs:
            refuse()
        if isinstance(node.node, nodes.Getattr):
            return self._items(node, node.node)
        called = node.node.name if isinstance(node.node, nodes.Name) else ""
        given = [self._of(argument) for argument in node.args]
        given += self._of(node.dyn_args) if node.dyn_args else []
        options = {option.key: self._of(option.value) for option in node.kwargs}
        if called == "dict" and len(given) == 1 and not options:
            return pairs(given[0])
        # texts of releases before 2.19 would be evaluated once more
        if called not in LOOKUPS or not given or not hasattr(self._loader, "get_text_file_contents"):
            refuse()
        return LOOKUPS[called](self._loader, self._variables, *given, **options)

    def _items(self, node: nodes.Call, method: nodes.Getattr) -> Any:
        whole = self._of(method.node)
        if method.attr != "items" or node.args or node.kwargs or node.dyn_args or not isinstance(whole, dict):
            refuse()
        return [list(pair) for pair in whole.items()]

    def _compared(self, node: nodes.Compare) -> bool:
        if len(node.ops) != 1:
            refuse()
        try:
            return COMPARED[node.ops[0].op](self._of(node.expr), self._of(node.ops[0].expr))
        except TypeError as err:
            raise Unknown from err

    def _tested(self, node: nodes.Test) -> bool:
        return self._found(node.node) is not MISSING if node.name == "defined" and not node.args else refuse()

    def _chosen(self, node: nodes.CondExpr) -> Any:
        chosen = node.expr1 if self._of(node.test) else node.expr2
        return self._of(chosen) if chosen else refuse()

    def _added(self, node: nodes.Add) -> Any:
        one, other = self._of(node.left), self._of(node.right)
        return one + other if isinstance(one, list) and isinstance(other, list) else refuse()

    def _joined(self, node: nodes.Concat) -> str:
        parts = [self._of(part) for part in node.nodes]
        return "".join(parts) if all(isinstance(part, str) for part in parts) else refuse()


READ: Mapping[type[nodes.Node], Callable[[Direct, Any], Any]] = {
    nodes.Const: lambda _direct, node: node.value,
    nodes.List: lambda direct, node: [direct._of(item) for item in node.items],
    nodes.Dict: lambda direct, node: {direct._of(pair.key): direct._of(pair.value) for pair in node.items},
    nodes.And: lambda direct, node: direct._of(node.left) and direct._of(node.right),
    nodes.Or: lambda direct, node: direct._of(node.left) or direct._of(node.right),
    nodes.Not: lambda direct, node: not direct._of(node.node),
    nodes.Filter: Direct._filtered,
    nodes.Call: Direct._called,
    nodes.Compare: Direct._compared,
    nodes.Test: Direct._tested,
    nodes.CondExpr: Direct._chosen,
    nodes.Add: Direct._added,
    nodes.Concat: Direct._joined,
}


def is_scalar(value: Any) -> bool:
    """Whether a value is neither text nor container, and needs no evaluation."""
    return value is None or isinstance(value, (bool, int, float))


@functools.lru_cache(maxsize=1024)
def parsed(template: str) -> list[nodes.Expr]:
    """The parts of a template without statements: expressions, and texts around them. Raises Unknown."""
    try:
        body = JINJA.parse(template).body
    except TemplateError as err:
        raise Unknown from err
    return body[0].nodes if len(body) == 1 and isinstance(body[0], nodes.Output) else refuse()
