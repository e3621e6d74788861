# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How the project speaks: plain words, short sentences, short paragraphs. Quoted code is exempt."""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conformance.blocks import (
    Block,
    for_developers,
    markdown,
    python,
    python_comments,
    words,
    yaml_comments,
    yaml_text,
)
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
"""Files that follow the rules; each ending needs its reader in READERS, and the others are Python."""
INSIDE = (
    *(f"{folder}/**/*.py" for folder in ("tests", "lab", "molecule", "bench")),
    *(f"{folder}/**/*.yml" for folder in ("tests", "lab", "molecule")),
)
"""Files for developers: their docstrings, comments and names of tests follow the rules. Strings quote programs."""

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
READERS: dict[str, Callable[[str], Iterator[Block]]] = {".md": markdown, ".yml": yaml_text}


def sentences(text: str) -> list[str]:
    """Split where a sentence ends; the dots of `3.14`, `e.g. this` and names end none."""
    return re.split(r"(?<=[.!?])[)\"]?\s+(?=[A-Z0-9(\"])", text)


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


FILES = sorted({path for pattern in SCOPE + INSIDE for path in ROOT.glob(pattern)})


@functools.cache
def blocks(path: Path) -> list[Block]:
    text = path.read_text()
    if relative(path).startswith(("tests/", "lab/", "molecule/", "bench/")):
        return [*for_developers(text), *python_comments(text)] if path.suffix == ".py" else list(yaml_comments(text))
    commented = {".py": python_comments, ".yml": yaml_comments}.get(path.suffix)
    return [*READERS.get(path.suffix, python)(text), *(commented(text) if commented else ())]


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
    assert [pattern for pattern in SCOPE + INSIDE if not list(ROOT.glob(pattern))] == []
