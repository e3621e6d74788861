# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The program that a node runs without Ansible, and the scripts that call it, with an emulated sinfo and scontrol."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.conformance.tree import ROOT
from tests.unit.module_utils.health.fake_node import FakeNode
from tests.unit.processes import LIMITS_S

FILES = ROOT / "roles/slurm_node/files"
PROGRAM = FILES / "drawbridge-node-health.py"
SOURCES = imported(PROGRAM.read_text(), source)
STATE = "/sys/class/net/rail1/operstate"
DOWN = "[fabric] rail1: rail link: rail1 is down"
COMMENT = f"comment=drawbridge health: {DOWN}"
DRAIN = f"state=drain reason=drawbridge: health: {DOWN}"
KEPT = "{kept: breaker site is open}"
COMPILED = "/run/drawbridge/compiled"
LONG_S = 300


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with its modules and no other file of this tree. Its compiled code has a place for these tests."""
    place = tmp_path_factory.mktemp("installed")
    for name in SOURCES:
        module = place / "lib/drawbridge-node-health/drawbridge" / name
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text((ROOT / "module_utils/drawbridge" / name).read_text())
    text = PROGRAM.read_text()
    assert COMPILED in text
    (place / "sbin").mkdir()
    (place / "sbin/drawbridge-node-health").write_text(text.replace(COMPILED, f"{place}/compiled"))
    return place / "sbin/drawbridge-node-health"


class Node(FakeNode):
    """A node with the program."""

    def __init__(self, root: Path, program: Path) -> None:
        super().__init__(root)
        self._program = program
        self.settings()
        self.slurm()

    def call(self, verb: str, *more: str, stdin: str = "", limit: float | None = LONG_S) -> tuple[int, str]:
        """Call it; its exit code and what it says."""
        options = ["--root", str(self.root), "--run", str(self.run), "--path", self.path]
        options += [] if limit is None else ["--limit", str(limit)]
        # by the Python that runs the tests: they run on the oldest that nodes may have, too
        argv = [sys.executable, "-IS", str(self._program), verb, *options, *more]
        done = subprocess.run(argv, input=stdin, capture_output=True, text=True, check=False, timeout=LONG_S)
        return done.returncode, f"{done.stdout}{done.stderr}".strip()

    def breaks(self) -> None:
        """One rail goes down."""
        self.write(STATE, "down\n")

    def told(self) -> list[str]:
        """The changes that Slurm got."""
        return [line.partition("nodename=gpu01 ")[2] for line in self.asked() if line.startswith("update")]


@pytest.fixture
def node(tmp_path: Path, program: Path) -> Node:
    return Node(tmp_path, program)


def test_a_look_prints_one_finding_a_line(node: Node) -> None:
    assert node.call("look") == (0, "")
    node.breaks()
    node.write("/sys/class/net/rail0/mtu", "1500\n")
    mtu = "rail0: rail MTU: rail0 has an MTU of 1500, the intent says 9000"
    assert node.call("look") == (1, f"{DOWN}\n{mtu}")
    code, said = node.call("look", "--json")
    fault, *_others = json.loads(said)["findings"]
    assert (code, fault) == (1, {"text": "rail1: rail link: rail1 is down", "fault": "fabric", "ends": ""})
    assert node.asked() == []


def test_warnings_are_in_json_alone(node: Node) -> None:
    real = (node.bin / "ethtool").read_text().partition("\n")[2]
    node.tool("ethtool", f'case "$1" in -m) echo "netlink error: Operation not supported" >&2; exit 95;; esac; {real}')
    assert node.call("look") == (0, "")
    code, said = node.call("look", "--json")
    assert (code, json.loads(said)["findings"]) == (0, [])
    assert "the driver can't read the module" in said


@pytest.mark.parametrize("text", [None, "{}"])
def test_without_settings_it_can_not_look(text: str | None, node: Node) -> None:
    node.write("/etc/drawbridge/health.json", text or "")
    if text is None:
        (node.root / "etc/drawbridge/health.json").unlink()
    code, said = node.call("look")
    assert (code, "health" in said, "Traceback" in said) == (2, True, False)


def test_before_a_job_a_healthy_node_asks_slurm_nothing(node: Node) -> None:
    for verb in ("prolog", "epilog"):
        assert node.call(verb) == (0, "")
    assert node.asked() == []


def test_before_a_job_a_finding_drains_the_node_and_refuses_the_job(node: Node) -> None:
    node.breaks()
    assert node.call("prolog") == (3, "")
    assert node.told() == [f"{COMMENT} {DRAIN}"]


def test_before_a_job_a_sites_comment_stays(node: Node) -> None:
    node.breaks()
    node.slurm(comment="RMA Reason=4711")
    assert node.call("prolog")[0] == 3
    assert node.told() == [f"comment=RMA Reason=4711 drawbridge health: {DOWN} {DRAIN}"]


def test_while_a_breaker_is_open_the_job_starts(node: Node) -> None:
    node.breaks()
    node.slurm(comment=f"drawbridge health: {KEPT}")
    assert node.call("prolog") == (0, "")
    assert node.told() == [f"{COMMENT} {KEPT}"]


def test_a_check_that_only_reports_refuses_no_job(node: Node) -> None:
    node.settings(report_only=["rail link"])
    node.breaks()
    assert node.call("prolog") == (0, "")
    assert node.told() == [COMMENT]


def test_after_a_job_a_finding_is_reported_alone(node: Node) -> None:
    node.breaks()
    assert node.call("epilog") == (0, "")
    assert node.told() == [COMMENT]


def test_without_an_answer_of_slurm_a_finding_refuses_the_job(node: Node) -> None:
    node.slurm_does("echo 'slurm_load_node error' >&2; exit 1")
    assert node.call("prolog") == (0, "")
    node.breaks()
    assert node.call("prolog") == (3, "")
    assert node.call("epilog") == (0, "")


def test_a_slurm_that_hangs_holds_no_job_up_beyond_the_programs_own_limit(node: Node) -> None:
    """Only that ends sinfo. A machine with much to do may find nothing in a short time."""
    node.slurm_does(f"echo x >> {node.root}/asked; exec sleep 600")
    node.breaks()
    code = 0
    for limit_s in LIMITS_S:
        code = node.call("prolog", limit=limit_s)[0]
        if node.asked():
            break
    assert code == 3


def test_a_slurm_that_does_not_take_the_drain_gets_no_job_either(node: Node) -> None:
    node.breaks()
    node.tool("scontrol", f"{node.shows()}; exit 1")
    assert node.call("prolog")[0] == 3


def test_a_file_that_hangs_lets_the_job_start_at_the_programs_own_limit(node: Node) -> None:
    """Only that ends the look: the reader of the file waits for a writer that never comes. Health finds it."""
    node.blocks(STATE)
    assert node.call("prolog", limit=None) == (0, "")
    assert node.asked() == []
    code, said = 0, ""
    for limit_s in LIMITS_S:
        code, said = node.call("look", limit=limit_s)
        if said == f"rail link: {STATE} does not answer":
            break
    assert (code, said) == (1, f"rail link: {STATE} does not answer")


def test_a_report_has_what_the_health_check_found(node: Node) -> None:
    found = f"/proc is not mounted\n{DOWN}\n[user] 50-site: /tmp is full\n\n"
    assert node.call("report", stdin=found) == (0, "")
    [comment] = node.told()
    for words in ("/proc is not mounted", DOWN, "[user] 50-site: /tmp is full"):
        assert words in comment


def test_a_report_without_findings_clears_the_last_one_and_returns_a_lost_node(node: Node) -> None:
    node.slurm("DOWN", "Not responding", COMMENT.partition("=")[2])
    assert node.call("report") == (0, "")
    assert node.call("report", "--returns") == (0, "")
    assert node.told() == ["comment=", "comment= state=resume"]


def test_a_report_that_slurm_does_not_take_is_an_error(node: Node) -> None:
    node.slurm_does("echo 'Unable to contact slurm controller' >&2; exit 1")
    assert node.call("report", stdin=DOWN) == (2, "sinfo: Unable to contact slurm controller")


def test_a_node_without_a_partition_reports_as_well(node: Node) -> None:
    node.slurm(comment="RMA 4711")
    node.without_partition()
    assert node.call("report", stdin=DOWN) == (0, "")
    assert node.told() == [f"comment=RMA 4711 drawbridge health: {DOWN}"]


def test_facts_are_printed(node: Node) -> None:
    code, said = node.call("facts")
    assert (code, f"{STATE}: up\n" in said) == (0, True)


def test_compiled_code_is_not_beside_the_program(node: Node, program: Path) -> None:
    assert node.call("look", "--where", "prolog") == (0, "")
    assert [path for path in (program.parents[1] / "lib").rglob("*") if path.suffix == ".pyc"] == []
    assert [*(program.parents[1] / "compiled").rglob("look_io.*.pyc")]


def part(node: Node, name: str, argv: Sequence[str]) -> int:
    """The exit code of a script with another program in place of drawbridge-node-health."""
    text = (FILES / name).read_text()
    assert "/usr/local/sbin/drawbridge-node-health" in text
    script = node.write(f"/{name}", text.replace("/usr/local/sbin/drawbridge-node-health", " ".join(argv)))
    return subprocess.run(["sh", str(script)], check=False, capture_output=True).returncode


@pytest.mark.parametrize("code", [0, 1, 2, 3, 137])
def test_a_finding_alone_fails_the_prolog_and_nothing_fails_the_epilog(code: int, node: Node) -> None:
    node.tool("it", f'test "$1" = prolog -o "$1" = epilog && exit {code}; exit 3')
    it = [str(node.bin / "it")]
    assert part(node, "30-health-prolog", it) == int(code == 3)
    assert part(node, "30-health-epilog", it) == 0


def test_the_part_of_the_health_check_prints_the_findings(node: Node) -> None:
    node.tool("it", 'test "$*" = look && exit 1; exit 9')
    assert part(node, "50-state", [str(node.bin / "it")]) == 1
