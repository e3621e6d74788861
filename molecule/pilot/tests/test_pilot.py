# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""docs/guides/first-site.md, steps 4 to 7: commands in their order, consents as the page gives them, all outputs.

The tests build on each other in their order. tests/collection/test_first_site.py compares steps 1 to 3.
"""

from __future__ import annotations

import re
import shlex

import pytest

from lab.hosts.paths import REPOSITORY, Paths
from tests.first_site import Checkout, checkout, consents, lines, same_part, steps
from tests.running import Lab
from tests.stack import lab as switch

STEPS = steps()
SITE, CHECK, SINFO = (*STEPS[5], *STEPS[6])
SUBMIT, OUTPUT, NODES = STEPS[7]
HOME = "/gpfs/fs1/home/ada"
EACH_NODE = re.compile(r"\bgpu\d+")
"""Refusals and pods name the nodes in any order."""


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab(Paths.of())


@pytest.fixture(scope="module")
def mine(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Steps 1 to 4, done."""
    paths = lab.paths
    made = checkout(tmp_path_factory.mktemp("pilot"), LAB_ID=str(paths.lab_id), LAB_STATE=str(paths.base))
    made.type(STEPS[1][1].command)
    made.describe()
    for typed in (*STEPS[2], *STEPS[3]):
        made.type(typed.command)
    administer(made, "kube_installer")
    return made


def administer(mine: Checkout, name: str) -> None:
    """Be the cluster's administrator."""
    switch("administrator", str(mine.home / f"plan/kubernetes/{name}.yml"))


def anonymous(text: str) -> str:
    """The same for whichever node; in one line."""
    return EACH_NODE.sub("gpu", " ".join(text.split()))


def test_each_run_stops_at_the_next_row_of_the_table(mine: Checkout) -> None:
    allowed = mine.inventory / "group_vars/all/consents.yml"
    allowed.write_text("---\n")
    printed = mine.type(SITE.command, code=2)
    for at, (sentences, line) in enumerate(consents(), 1):
        sentence = anonymous(max(sentences, key=len)).removesuffix(" ...").removesuffix(", ...")
        assert sentence in anonymous(printed)
        if line:
            allowed.write_text(f"{allowed.read_text()}{line}\n")
        else:
            administer(mine, "kube_policies")
        printed = mine.type(SITE.command, code=0 if at == len(consents()) else 2)
    assert same_part(printed, SITE.shown) == SITE.shown


def test_nothing_is_left_to_do_without_the_consents(mine: Checkout, lab: Lab) -> None:
    allowed = mine.inventory / "group_vars/all/consents.yml"
    allowed.write_text(allowed.read_text().replace(": true", ": false"))
    recap = mine.type(CHECK.command).partition("PLAY RECAP")[2]
    assert set(re.findall(r"changed=\d+ +unreachable=\d+ +failed=\d+", recap)) == {
        "changed=0    unreachable=0    failed=0"
    }
    assert recap.count("changed=0") == len(SITE.shown) - 1
    assert lines(lab.ssh("login1", SINFO.command)) == SINFO.shown


def test_a_job_goes_through_the_gate(lab: Lab) -> None:
    """The lab's login host has no GPFS, so the output is read on a node."""
    lab.ssh("login1", f"install -d -o ada {HOME}")
    lab.ssh("login1", f"cat > {HOME}/allreduce.sbatch", stdin=(REPOSITORY / "examples/allreduce.sbatch").read_text())
    as_ada = f"cd {HOME} && runuser -u ada --"
    assert lines(lab.ssh("login1", f"{as_ada} {SUBMIT.command}")) == SUBMIT.shown
    said = lines(lab.ssh("gpu01", f"{as_ada} {OUTPUT.command}"))
    assert sorted(map(anonymous, said)) == sorted(map(anonymous, OUTPUT.shown))
    assert {*EACH_NODE.findall("".join(said))} == {*EACH_NODE.findall("".join(OUTPUT.shown))}
    kubectl = shlex.split(NODES.command)[1:]
    lab.wait("the nodes are closed as the page has them", lambda: lines(lab.kubectl(*kubectl)) == NODES.shown)
