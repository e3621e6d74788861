# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How the project speaks: plain words, short sentences, short paragraphs. What is quoted from code is exempt."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

from tests.conformance.tree import ROOT, relative

SENTENCE_WORDS = 25
PARAGRAPH_LINES = 6
LINE = 120
"""A paragraph's lines are counted at this width, however its source is broken."""
SCOPE = (
    *("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md", "roles/*/README.md", "changelogs/fragments/*.yml"),
    *("roles/*/tasks/**/*.yml", "roles/*/meta/*.yml", "playbooks/**/*.yml", "meta/options.yml"),
    *("module_utils/drawbridge/**/*.py", "library/*.py", "plugins/**/*.py", "filter_plugins/*.py"),
    "roles/*/files/**/*.py",
)
"""Files that follow the rules; each ending needs its reader in READERS, and what has none is Python."""

BANNED = (
    # riddles, and the word of the field
    ("without a word", "silently"),
    ("for ever", "permanently"),
    ("(as|than) ever", "as before, or nothing"),
    ("nobody('s)?", "who exactly: no user, no process, another tenant"),
    ("(any|every|some)body('s)?( else)?('s)?", "who exactly: all users, an administrator, another controller"),
    ("strangers?", "another tenant, an unknown value"),
    ("what (is|are|was|were)", "name it: the state, the packages, the rest"),
    ("(is|are|was|were) to be", "must be, will be, should be"),
    ("(is|are|was|were|be|been) asked", "who reads or queries what"),
    ("asked? nothing", "makes no calls to"),
    ("(is|are|was|were|be|been) told", "who sends, writes or reports what"),
    ("(hears?|heard) of", "sees, learns of"),
    ("st(ands?|ood) in", "is in, is stored in"),
    ("stands on", "is on"),
    ("(one|ones|that|which) (is|are) there", "exists, is installed"),
    ("they are there", "they exist"),
    ("(none )?of ours", "Drawbridge's, the gate's"),
    ("that is no [a-z]+'s", "what it belongs to: a non-job pod, another process"),
    ("good for nothing", "useless, without effect"),
    ("(has|have|had|without) (a|no) home", "fits on the infra nodes"),
    ("lowers it", "opens the node"),
    ("we know how to", "the whole"),
    # one word for one thing
    ("books", "accounting, or accounting database"),
    ("(the|a|this|site's|whole) description", "intent"),
    ("storage/mm", "gpfs"),
    ("newcomers?", "new nodes"),
    ("traps?", "pitfall"),
    ("withstands?", "threat model"),
    ("taking [a-z]+ away", "uninstall"),
    ("break(s|ing)? the glass", "break-glass"),
    ("mend(s|ed|ing)?", "repair"),
    ("swallow(s|ed|ing)?", "ignore silently"),
)
"""(pattern, what to write instead); patterns are whole words, in any case."""


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
        apart = not gathered and re.match(" {4,}", line) and not (listed and len(line) - len(bare) < CODE_IN_A_LIST)
        ends = not bare or bare.startswith(("```", "#", "|", "<!--")) or re.match(ITEM, bare)
        if gathered and (ends or fenced):
            yield Block(begun, plain(" ".join(gathered)))
            gathered = []
        if bare.startswith("```"):
            fenced = not fenced
        elif fenced or apart or not bare or bare.startswith("<!--"):
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
READERS: dict[str, Callable[[str], Iterator[Block]]] = {".md": markdown, ".yml": yaml_text}


def plain(text: str) -> str:
    """A link is its words, and code is one word that nothing bans."""
    text = re.sub(r"``.+?``|`[^`]+`", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"https?://\S+", "URL", text).replace("**", "").replace("*", "")


def sentences(text: str) -> list[str]:
    """Split where a sentence ends; the dots of `3.14`, `e.g. this` and names end none."""
    return re.split(r"(?<=[.!?])[)\"]?\s+(?=[A-Z0-9(\"])", text)


def words(text: str) -> int:
    """Count the words; dashes, dots between links and signs are none."""
    return sum(bool(re.search("[A-Za-z0-9]", word)) for word in text.split())


def only_links(text: str) -> bool:
    """Whether this is a line of links with dots between them."""
    return text.count(" · ") > 1


def banned(blocks: list[Block]) -> list[str]:
    found = (
        (block, re.search(rf"\b({pattern})\b", block.text, re.IGNORECASE), use)
        for block in blocks
        for pattern, use in BANNED
    )
    return [f'line {block.line}: "{hit.group(0)}"; write: {use}' for block, hit, use in found if hit]


def long_sentences(blocks: list[Block]) -> list[str]:
    flowing = (block for block in blocks if block.flowing and not only_links(block.text))
    pairs = ((block.line, sentence) for block in flowing for sentence in sentences(block.text))
    return [f"line {line}: {words(it)} words: {it}" for line, it in pairs if words(it) > SENTENCE_WORDS]


def long_paragraphs(blocks: list[Block]) -> list[str]:
    sizes = ((block, len(textwrap.wrap(block.text, LINE))) for block in blocks if block.flowing)
    return [
        f"line {block.line}: {lines} lines: {block.text[:60]}…" for block, lines in sizes if lines > PARAGRAPH_LINES
    ]


FILES = sorted({path for pattern in SCOPE for path in ROOT.glob(pattern)})


def blocks(path: Path) -> list[Block]:
    return list(READERS.get(path.suffix, python)(path.read_text()))


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_words_are_plain(path: Path) -> None:
    assert banned(blocks(path)) == []


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_sentences_are_short(path: Path) -> None:
    assert long_sentences(blocks(path)) == []


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_paragraphs_are_short(path: Path) -> None:
    assert long_paragraphs(blocks(path)) == []


def test_every_pattern_of_the_scope_finds_files() -> None:
    assert [pattern for pattern in SCOPE if not list(ROOT.glob(pattern))] == []
