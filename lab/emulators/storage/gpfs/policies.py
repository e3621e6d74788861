# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Policies: one file of rules for each file system, replaced as a whole.

- `mmchpolicy Dev F -I test`: `Validated policy 'F': Parsed 2 policy rules.`
- `mmchpolicy Dev F`: that line, and `Policy 'F' installed and broadcast to all nodes.`
- `mmlspolicy Dev`: `Policy for file system '/dev/Dev':`, by whom and when, and the file's first line.
- `mmlspolicy Dev -L`: the file.

The lines of mmchpolicy are from IBM Cloud's documentation, the others from IBM's pages. IBM's page of 6.0.1 has the
grammar. No public source has the texts for a file system without policy, for mistakes in rules, or the header of
`mmlspolicy -Y`. The first two are our own, and `-Y` is not emulated.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...common import DRIFT
from .filesystems import date, find
from .model import Bare, Failed

if TYPE_CHECKING:
    from .model import Cluster

TOKEN = re.compile(r"/\*.*?\*/|--[^\n]*|'(?:[^']|'')*'|\"[^\"]*\"|\w+|[^\s\w]", re.DOTALL)
"""A comment, a string, a word or a sign."""
KINDS = {
    ("SET", "POOL"),
    ("SET", "SNAP_POOL"),
    ("SET", "ENCRYPTION"),
    ("EXTERNAL", "POOL"),
    ("EXTERNAL", "LIST"),
    ("GROUP", "POOL"),
    ("RESTORE", "TO"),
}
"""Two words that a rule may begin with, after its name."""
SINGLE = ("MIGRATE", "DELETE", "EXCLUDE", "LIST", "ENCRYPTION", "WHEN")
MACRO = re.compile(r"\bdefine\s*\((?:[^()]|\([^()]*\))*\)")
"""A definition of m4, which the rules pass through."""
NAMES_POOL = re.compile(r"(?:SET|FROM|TO) (?:SNAP_)?POOL")
LARGEST = 1 << 20
DEFAULT = "RULE 'DEFAULT' SET POOL 'system'\n"
SOMEBODY = "/* another administrator's */\nRULE 'default' SET POOL 'data'\n"


def mmlspolicy(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Print who installed the policy, or with -L the policy."""
    device, record = find(cluster, rest[0] if len(rest) == 1 else "")
    policy = record["policy"]
    if policy is None:
        print(f"No policy file was installed for file system '{device}'.")
    elif "-L" in given:
        print(policy["text"], end="" if policy["text"].endswith("\n") else "\n")
    else:
        print(f"Policy for file system '/dev/{device}':")
        print(f"   Installed by root@{policy['host']} on {date(policy['when'])}.")
        print(f"   First line of policy '{policy['title']}' is:")
        print(policy["text"].partition("\n")[0])


def mmchpolicy(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Check a file of rules and install it, unless -I is test; DEFAULT stands for a rule that uses the system pool."""
    _, record = find(cluster, rest[0] if rest else "")
    if len(rest) != 2 or given.get("-I", "yes") not in ("yes", "test"):
        raise Failed("Missing arguments." if len(rest) < 2 else "Incorrect option.")
    text = DEFAULT if rest[1] == "DEFAULT" else _read(rest[1])
    title = given.get("-t", Path(rest[1]).name)
    count = _rules(text, record)
    print(f"Validated policy '{title}': Parsed {count} policy rules.")
    if given.get("-I") == "test":
        return
    record["policy"] = {"text": text, "title": title, "host": cluster.me, "when": int(cluster.now())}
    print(f"Policy '{title}' installed and broadcast to all nodes.")
    if cluster.effect == DRIFT:
        record["policy"]["text"] = SOMEBODY


def _read(path: str) -> str:
    try:
        text = Path(path).read_text()
    except OSError as error:
        raise Failed(f"{path}: {error.strerror}") from None
    if len(text.encode()) > LARGEST:
        raise Failed(f"Policy file {path} is larger than 1 MB.")
    return text


def _rules(text: str, record: dict[str, Any]) -> int:
    """Return the number of rules; fails at a mistake, and at a pool that the file system doesn't have."""
    rules: list[list[str]] = []
    text = MACRO.sub(lambda found: "\n" * found[0].count("\n"), text)
    for found in TOKEN.finditer(text):
        token = found[0]
        if token.startswith(("/*", "--")):
            continue
        if token.upper() == "RULE":
            rules.append([])
        elif not rules or token in ("'", '"'):
            line = text.count("\n", 0, found.start()) + 1
            raise _mistake(token, line)
        else:
            rules[-1].append(token)
    if not rules:
        raise Bare("A policy must contain at least one rule.", rc=22)
    defined = {_text(rule[at + 2]) for rule in rules for at in _definitions(rule)} | set(record["pools"])
    for number, rule in enumerate(rules, 1):
        _check(rule, number, defined)
    return len(rules)


def _definitions(rule: list[str]) -> list[int]:
    """Return where a rule defines a pool: an external one or a group."""
    words = [word.upper() for word in rule]
    return [at for at in range(len(words) - 2) if words[at] in ("EXTERNAL", "GROUP") and words[at + 1] == "POOL"]


def _check(rule: list[str], number: int, pools: set[str]) -> None:
    words = rule[1:] if rule and rule[0][0] in "'\"" else rule
    upper = [word.upper() for word in words]
    if not upper or (tuple(upper[:2]) not in KINDS and upper[0] not in SINGLE):
        raise _mistake(words[0] if words else "end of rule", number, "rule")
    for at in range(len(upper) - 1):
        if NAMES_POOL.fullmatch(f"{upper[at]} {upper[at + 1]}"):
            pool = words[at + 2] if at + 2 < len(words) else "end of rule"
            if pool[0] != "'":
                raise _mistake(pool, number, "rule")
            if _text(pool) not in pools:
                raise Bare(f"Rule {number} refers to storage pool {pool}, which is not in the file system.", rc=22)


def _text(string: str) -> str:
    return string[1:-1]


def _mistake(token: str, number: int, what: str = "line") -> Bare:
    return Bare(f"Policy rules are not valid: unexpected {token} in {what} {number}.", rc=22)
