# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Text of a file system's policy: Drawbridge's block in it, and the rules of the site around it.

A policy has rules one after the other, without separators, and comments between /* and */. The first rule that fits a
new file places it. With placement rules of which none fits, GPFS refuses the file. Without any, GPFS uses the first
data pool (IBM, Creating a policy).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

BEGIN, END = "/* drawbridge begin */", "/* drawbridge end */"
_MARKS = re.compile(rf"{re.escape(BEGIN)}|{re.escape(END)}")
_BLOCK = re.compile(rf"^{re.escape(BEGIN)}\n(.*?)^{re.escape(END)}(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TOKEN = re.compile(
    r"/\*.*?(?:\*/|\Z)|--(?=\s|\Z)[^\n]*"
    r"|'(?:[^']|'')*'|\"[^\"]*\""
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)",
    re.DOTALL,
)
_NO_POLICY = re.compile(r"\s*No policy file was installed for file system\b")
_SUMMARY = re.compile(r"\s*Policy (file )?for file system\b")
_OWN_RULE = re.compile(r"^RULE 'drawbridge ([^']+)' SET POOL '([^']+)' FOR FILESET \('\1'\)$", re.MULTILINE)
MOST_BYTES = 1 << 20
"""Largest policy that GPFS takes (IBM, Creating a policy)."""
DEFAULT_RULE = "RULE 'drawbridge: other files' SET POOL '{}'\n"


class UnknownPolicy(ValueError):
    """A text that Drawbridge must not write back; the message says why."""


@dataclass(frozen=True)
class _Rule:
    start: int
    placement: bool
    catches_all: bool


def installed(text: str) -> str:
    """The policy in what mmlspolicy -L prints, empty for none. Raises UnknownPolicy for text that is no policy."""
    if _NO_POLICY.match(text):
        return ""
    if _SUMMARY.match(text) or not list(_rules(text)):
        raise UnknownPolicy("the text has no rule of a policy")
    if "\ufffd" in text:
        raise UnknownPolicy("the policy has bytes that are not UTF-8, which Drawbridge can't write back")
    block_of(text)
    return text


def block_of(text: str) -> str | None:
    """The lines between Drawbridge's marks, None without marks. Raises UnknownPolicy for broken marks."""
    if not _MARKS.search(text):
        return None
    found = _BLOCK.search(text)
    if not found or len(_MARKS.findall(text)) != 2:
        raise UnknownPolicy(f"the lines {BEGIN} and {END} must be there once each, in this order, alone in their lines")
    return found[1]


def without_block(text: str) -> str:
    """The site's own part."""
    return _BLOCK.sub("", text, count=1)


def lacks_default(pools: Mapping[str, str], rest: str) -> bool:
    """Whether the block must place all other files too: GPFS's own default ends with the first placement rule."""
    rules = list(_rules(rest))
    return bool(pools or not rules) and not any(rule.placement for rule in rules)


def block(pools: Mapping[str, str], rest: str, default_pool: str) -> str:
    """Lines of the block: pools by fileset, and a default where the rest needs one."""
    lines = [f"RULE 'drawbridge {name}' SET POOL '{pool}' FOR FILESET ('{name}')\n" for name, pool in pools.items()]
    return "".join([*lines, *([DEFAULT_RULE.format(default_pool)] if lacks_default(pools, rest) else [])])


def pools_of(lines: str) -> dict[str, str]:
    """Pools by fileset that lines of the block say."""
    return dict(_OWN_RULE.findall(lines))


def with_block(text: str, lines: str) -> str:
    """The text with these lines between the marks; without lines the marks are gone.

    An old block keeps its place, unless a rule before it places all files. A new one comes before the site's first
    rule that does, else at the end.
    """
    new, old = (f"{BEGIN}\n{lines}{END}\n" if lines else ""), _BLOCK.search(text)
    if old and not any(rule.catches_all for rule in _rules(text[: old.start()])):
        return text[: old.start()] + new + text[old.end() :]
    text = without_block(text)
    at = next((rule.start for rule in _rules(text) if rule.catches_all), len(text))
    line = text.rfind("\n", 0, at) + 1
    at = at if text[line:at].strip() else line
    before = text[:at]
    return before + ("\n" if new and before and not before.endswith("\n") else "") + new + text[at:]


def rule_count(text: str) -> int:
    """Number of rules."""
    return len(list(_rules(text)))


def _rules(text: str) -> Iterator[_Rule]:
    """Rules in their order: a rule's words are those up to the next RULE, outside of comments and quotes."""
    start, words = -1, list[str]()
    for token in _TOKEN.finditer(text):
        word = (token["word"] or "").upper()
        if word == "RULE":
            if start >= 0:
                yield _rule(start, words)
            start, words = token.start(), []
        elif word:
            words.append(word)
    if start >= 0:
        yield _rule(start, words)


def _rule(start: int, words: list[str]) -> _Rule:
    placement = words[:2] == ["SET", "POOL"]
    return _Rule(start, placement, placement and not {"FOR", "WHERE"} & {*words})
