# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/guides/first-site.md: commands of its steps 1 to 3, the outputs that it shows, and all that it names.

molecule/pilot takes the same site through steps 4 to 7.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load

from tests.collection.installed import ROOT
from tests.collection.recorder import Recorder
from tests.conformance.test_options import DECLARED
from tests.first_site import PAGE, Checkout, Typed, checkout, consents, same_part, steps
from tests.unit.module_utils.site.test_refused import site

VARIES = re.compile(r"Ethernet[\d-]+|gpu\d+|rail\d|ConfigMap \S+|[,:;] |[.]{3}| (?=PFC|QoS)|(?<=PFC|QoS) ")
"""What a quoted sentence has of one site, and where the code puts sentences together."""
CODE = "\n".join(path.read_text() for folder in ("module_utils", "plugins") for path in (ROOT / folder).rglob("*.py"))
WORDS = re.sub(r'"\s*\n\s*f?"', "", CODE)
"""With sentences that are longer than a line in one piece."""
JOB = (ROOT / "examples/allreduce.sbatch").read_text()


@dataclass(frozen=True)
class Walk:
    """Steps 1 to 3, done."""

    mine: Checkout
    printed: list[tuple[Typed, str]]
    asked: list[str]
    """Connections that were opened."""


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    root = tmp_path_factory.mktemp("first_site")
    recorder = Recorder(root)
    mine, page = checkout(root, **recorder.environment), steps()
    make, copy = page[1]
    assert (make.command, *re.findall("^tools:", (ROOT / "Makefile").read_text(), re.MULTILINE)) == (
        "make tools",
        "tools:",
    )
    mine.type(copy.command)
    mine.describe()
    printed = [(typed, mine.type(typed.command)) for typed in (*page[2], *page[3])]
    return Walk(mine, printed, recorder.asked)


def test_check_and_plan_print_what_the_page_shows(walk: Walk) -> None:
    shown = [(typed.command.split()[-1], len(typed.shown)) for typed, _ in walk.printed]
    assert shown == [("playbooks/check.yml", 8), ("plan_into=~/plan", 0), ("~/plan/index.yml", 6)]
    for typed, printed in walk.printed:
        assert same_part(printed, typed.shown) == typed.shown
    assert walk.asked == []


def test_the_plan_has_the_folders_and_files_of_the_page(walk: Walk) -> None:
    plan = walk.mine.home / "plan"
    for folder in yaml.safe_load((plan / "index.yml").read_text()):
        assert (plan / folder / "steps.txt").is_file()
    for name in re.findall(r"`(?:~/plan/kubernetes/)?(kube_\w+\.yml)`", PAGE):
        assert (plan / "kubernetes" / name).is_file()


def test_the_table_of_files_has_those_of_the_example(walk: Walk) -> None:
    """A file that only the lab needs is none of them."""
    example = ROOT / "inventories/example-pilot"
    named = re.findall(r"^\| `(\w+\.yml)` \|", PAGE, re.MULTILINE)
    assert sorted(named) == sorted(path.name for path in example.rglob("*.yml"))
    assert (example / named[0]).is_file()


def test_an_editor_finds_the_schema_from_each_file(walk: Walk) -> None:
    [path] = re.findall(r"^ {4}# yaml-language-server: \$schema=(\S+)$", PAGE, re.MULTILINE)
    place = walk.mine.inventory / "group_vars/all"
    assert (place / path).resolve() == (walk.mine.folder / "docs/intent.schema.json").resolve(strict=True)


def test_examples_are_as_the_page_says() -> None:
    named = set(re.findall(r"\b(example-\w+)", PAGE))
    assert named <= {path.name for path in (ROOT / "inventories").iterdir()}
    [(name, nodes)] = re.findall(r"`(example-\w+)` has (\d+) nodes", PAGE)
    assert len(load(site(name)).nodes.by_name) == int(nodes)


@pytest.mark.parametrize(("sentences", "line"), consents(), ids=lambda value: value if isinstance(value, str) else "")
def test_the_code_has_the_sentences_of_the_table_and_the_consents(sentences: list[str], line: str) -> None:
    parts = [part.strip() for sentence in sentences for part in VARIES.split(sentence)]
    assert [part for part in parts if part not in WORDS] == []
    assert not line or line in {f"{name}: true" for name in DECLARED}


def test_the_job_of_the_page_is_the_example() -> None:
    settings = dict(re.findall(r"^#SBATCH --([\w-]+)=(\S+)$", JOB, re.MULTILINE))
    submit, output, _ = steps()[7]
    sinfo = next(typed for typed in steps()[6] if typed.command == "sinfo")
    assert submit.command.endswith(" allreduce.sbatch")
    assert output.command == f"cat {settings['output'].replace('%j', submit.shown[0].split()[-1])}"
    assert sinfo.shown[1].split()[0] == f"{settings['partition']}*"
    assert f"with {settings['gres'].split(':')[-1]} GPUs" in output.shown[0]
    assert len(output.shown) == int(settings["nodes"]) + 1
    assert output.shown[-1].endswith(f"-{settings['job-name']}: Complete, exit codes [0, 0]")
