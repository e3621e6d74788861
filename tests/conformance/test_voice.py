# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How the project speaks: plain words, short sentences, short paragraphs. What is quoted from code is exempt."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conformance.tree import ROOT, relative

SENTENCE_WORDS = 25
PARAGRAPH_LINES = 6
LINE = 120
"""A paragraph's lines are counted at this width, however its source is broken."""
SCOPE = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md", "roles/*/README.md")
"""Files that follow the rules; each ending needs its reader in READERS."""

BANNED = (
    # riddles, and the word of the field
    ("without a word", "silently"),
    ("for ever", "permanently"),
    ("(as|than) ever", "as before, or nothing"),
    ("nobody('s)?", "who exactly: no user, no process, another tenant"),
    ("(any|every|some)body('s)?( else)?('s)?", "who exactly: all users, an administrator, another controller"),
    ("strangers?", "another tenant, an unknown value"),
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
READERS: dict[str, Callable[[str], Iterator[Block]]] = {".md": markdown}


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
    return list(READERS[path.suffix](path.read_text()))


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


SENTENCE = "one two three four five six seven eight nine ten eleven twelve thirteen"
RED = [
    ("Helm takes it without a word.", banned),
    ("## Nobody's pods", banned),
    ("| cell | Slurm is\nasked | \n\nSlurm is\nasked.", banned),
    ("1. The key stands in\n   the file.", banned),
    (f"{SENTENCE} and {SENTENCE}.", long_sentences),
    (f"- {SENTENCE},\n  {SENTENCE}.", long_sentences),
    (f"{SENTENCE}. " * 12, long_paragraphs),
]
GREEN = [
    ("The gate prints `nobody is asked without a word`.", banned),
    ("    echo for ever\n\n```\nfor ever\n```\n", banned),
    (f"{SENTENCE}. One {SENTENCE}.", long_sentences),
    (f"{SENTENCE}.\n\nOne {SENTENCE}.", long_sentences),
    (f"| {SENTENCE} {SENTENCE} |", long_sentences),
    (f"It prints:\n\n    {SENTENCE} {SENTENCE}", long_sentences),
    (f"[{SENTENCE}](a) · [{SENTENCE}](b) · [c](c)", long_sentences),
    ("One. Two.\n\n" * 12, long_paragraphs),
]


@pytest.mark.parametrize(("text", "check"), RED)
def test_a_breach_is_seen(text: str, check: Callable[[list[Block]], list[str]]) -> None:
    assert check(list(markdown(text)))


@pytest.mark.parametrize(("text", "check"), GREEN)
def test_what_is_fair_passes(text: str, check: Callable[[list[Block]], list[str]]) -> None:
    assert check(list(markdown(text))) == []
