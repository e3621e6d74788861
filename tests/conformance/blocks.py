# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What people read in a file, as blocks of text: pages, docstrings, messages, comments, names of tests."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import yaml


@dataclass(frozen=True)
class Block:
    """A stretch of text; `flowing` is what has sentences and paragraphs, unlike headings and tables."""

    line: int
    text: str
    flowing: bool = True


def markdown(text: str) -> Iterator[Block]:
    """A page without its code: headings, cells of tables, paragraphs and list items."""
    gathered: list[str] = []
    begun, fenced, listed = 0, False, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        bare = line.strip()
        separate = not gathered and re.match(" {4,}", line) and not (listed and len(line) - len(bare) < CODE_IN_A_LIST)
        ends = not bare or bare.startswith(("```", "#", "|", "<!--")) or re.match(ITEM, bare)
        if gathered and (ends or fenced):
            yield Block(begun, plain(" ".join(gathered)))
            gathered = []
        if bare.startswith("```"):
            fenced = not fenced
        elif fenced or separate or not bare or bare.startswith("<!--"):
            continue
        elif bare.startswith(("#", "|")):
            yield Block(number, plain(bare), flowing=False)
            listed = False
        else:
            listed = bool(re.match(ITEM, bare)) or (listed and line.startswith(" "))
            begun = begun if gathered else number
            gathered.append(re.sub(ITEM, "", bare))


ITEM = r"^([-*]|[0-9]+[.]) "
CODE_IN_A_LIST = 6


def python(text: str) -> Iterator[Block]:
    """A program's docstrings and messages; documentation of a module is YAML of its own."""
    tree = ast.parse(text)
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield from prose(
                node.lineno,
                "".join(str(part.value) if isinstance(part, ast.Constant) else "CODE" for part in node.values),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            documented = re.match(r"\n\s*(---|- \w+:|\w+:)", node.value)
            yield from at(node.lineno, yaml_text(node.value)) if documented else prose(node.lineno, node.value)


def prose(line: int, text: str) -> Iterator[Block]:
    """Paragraphs of a string; few words are a name, and many without punctuation are a list of names."""
    for paragraph in re.split(r"\n\s*\n", text):
        if words(paragraph) >= FEW_WORDS and (words(paragraph) < MANY_WORDS or re.search(r"[.,;:]\s", paragraph)):
            yield Block(line, plain(" ".join(paragraph.split())))


def at(line: int, found: Iterable[Block]) -> Iterator[Block]:
    """The same blocks, further down in a file."""
    return (replace(block, line=line + block.line - 1) for block in found)


def yaml_text(text: str) -> Iterator[Block]:
    """What people read of a YAML document: names, descriptions and messages."""
    for document in yaml.compose_all(text, Loader=yaml.SafeLoader):
        yield from read(document)


def read(node: yaml.Node, key: str = "") -> Iterator[Block]:
    """Go down; a list of descriptions is one paragraph an item."""
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            yield from read(value, name.value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from read(item, key)
    elif key in SPOKEN and isinstance(node, yaml.ScalarNode):
        yield from prose(node.start_mark.line + 1, re.sub(r"{{.*?}}|{%.*?%}|[BCIMOUV]\([^)]*\)", "CODE", node.value))


FEW_WORDS, MANY_WORDS = 3, 26
SPOKEN = (
    *("name", "description", "short_description", "notes", "msg", "fail_msg", "success_msg", "release_summary"),
    *("major_changes", "minor_changes", "breaking_changes", "bugfixes", "security_fixes", "known_issues"),
)
"""Keys of YAML whose values people read."""


def plain(text: str) -> str:
    """A link is its words, and code is one word that nothing bans."""
    text = re.sub(r"``.+?``|`[^`]+`", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"https?://\S+", "URL", text).replace("**", "").replace("*", "")


def words(text: str) -> int:
    """Count the words; dashes, dots between links and signs are none."""
    return sum(bool(re.search("[A-Za-z0-9]", word)) for word in text.split())


def for_developers(program: str) -> Iterator[Block]:
    """A program's docstrings and the names of its tests: other strings of tests quote what programs say."""
    for node in ast.walk(ast.parse(program)):
        body = getattr(node, "body", ())
        for part in body if isinstance(body, list) else ():
            match part:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield from prose(part.lineno, text)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield Block(node.lineno, node.name.removeprefix("test_").replace("_", " "), flowing=False)


def comments(lines: dict[int, tuple[bool, str]]) -> Iterator[Block]:
    """Paragraphs of comments; of a line, whether it has nothing else, and its comment."""
    gathered: list[str] = []
    begun = last = 0
    for number, (alone, text) in sorted(lines.items()):
        row = re.search(r"\S {2,}\S", text)  # of a table
        if gathered and (row or not (alone and number == last + 1)):
            yield from prose(begun, " ".join(gathered))
            gathered = []
        begun = begun if gathered else number
        gathered.append(text.lstrip("# "))
        last = number if alone else 0
    yield from prose(begun, " ".join(gathered))


def python_comments(text: str) -> Iterator[Block]:
    """Comments of a program."""
    found = [it for it in tokenize.generate_tokens(io.StringIO(text).readline) if it.type == tokenize.COMMENT]
    return comments({it.start[0]: (it.line.lstrip()[0] == "#", it.string) for it in found if not directive(it.string)})


def yaml_comments(text: str) -> Iterator[Block]:
    """Comments of YAML; a # in a text has a quote or a letter before it, or is rare."""
    found = {at: re.match(r"(.*?)(?:^|(?<=\s))(#\s.*)$", line) for at, line in enumerate(text.splitlines(), 1)}
    parts = {at: (not it.group(1).strip(), it.group(2)) for at, it in found.items() if it}
    return comments({at: part for at, part in parts.items() if not directive(part[1])})


def directive(comment: str) -> bool:
    """Whether a tool reads it, or a lawyer."""
    return bool(re.match(r"#!?\s*(noqa|type:|pyright|fmt:|ruff|SPDX|Copyright|yamllint|yaml-language|pylint)", comment))
