# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller's program of findings beside real daemons: drains, answers, one reboot, and a silent slurmctld.

They run in namespaces of their own, without accounting: Slurm then keeps the reason of a drain that is over. With
SLURM_SUITE=sid they are those of Debian's newest Slurm.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.records import nodes
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import Seen
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import Health, Reboot
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.conformance.tree import ROOT
from tests.slurm_daemons import CONF as DAEMONS
from tests.slurm_daemons import SCENE, Place

pytestmark = pytest.mark.live

PROGRAM = ROOT / "roles/node_health/files/drawbridge-health-controller.py"
VIEW = {
    "health": asdict(replace(Health(), reboot=Reboot(True, "/out/reboot"))),
    "units": {"leaf1": "n[1-2]", "leaf2": "n[3-4]"},
    "proofs": "",
}
CONF = f"""{DAEMONS}\
ReturnToService=1
RebootProgram=/out/reboot
ResumeTimeout=600
SlurmdParameters=config_overrides
NodeName=n[1-4] NodeHostname=ctl Port=[17001-17004] CPUs=4
PartitionName=train Nodes=n[1-4] Default=YES
"""
BOOT = """#!/bin/sh
# slurmd runs it. A daemon that says that its node has just booted takes the place of the old one.
setsid sh -c '
  old=$(cat /run/slurmd-n1.pid)
  kill "$old"
  while kill -0 "$old" 2> /dev/null; do sleep 0.1; done
  slurmd -b -N n1
' > /out/reboot.log 2>&1 < /dev/null &
"""
SCRIPT = """
export SLURM_TIME_FORMAT=%s TZ=UTC0
come() { for look in $(seq 3000); do if eval "$1"; then return; fi; sleep 0.1; done; echo "not so: $1"; exit 9; }
health() { /usr/bin/env -i python3 -I /usr/local/sbin/drawbridge-health "$@"; }
look() {
  health tend 2> "/out/$1.err"
  scontrol show nodes --oneliner > "/out/$1"
  cp /run/drawbridge/metrics/health.prom "/out/$1.prom"
}
say() { scontrol update nodename="$1" comment="$2"; }
munged --force
slurmctld
for node in n1 n2 n3 n4; do mkdir "/var/spool/slurmd-$node"; slurmd -N "$node"; done
come '[ "$(sinfo --noheader --Node --format=%T | sort -u)" = idle ]'

say n1 'RMA=17 drawbridge health: [node reboot] GPU 3: GPUs present: lost'
scontrol update nodename=n4 state=drain reason='new fan, RMA=17 [a@b]'
look drained
look ordered
come 'scontrol show node n1 | grep -q "State=DOWN.*REBOOT_ISSUED\\|reboot complete"'
come 'scontrol show node n1 | grep -q "reboot complete"'
come '! scontrol show node n1 | grep -q "State=[A-Z]*[*]\\|NOT_RESPONDING"'
scontrol show nodes --oneliner > /out/back
say n1 'RMA=17'
look returned
come '[ "$(sinfo --noheader --Node --nodes=n1 --format=%T)" = idle ]'

for node in n1 n2 n3; do say $node 'drawbridge health: /fs1 is not mounted'; done
look kept
rm /var/lib/drawbridge/health/memory.json
say n2 'drawbridge health: {kept: breaker site is open}'
say n3 'drawbridge health: {kept: breaker site is open}'
look recovered
health show --json > /out/shown || echo $? > /out/shown.code
health close > /out/closed
look closed-look
say n1 ''
look lifted

say n2 'drawbridge health: [node repair] GPU 3: GPU memory rows: failed'
look repair
health lift n2 > /out/lift
scontrol show nodes --oneliner > /out/repaired
kill $(cat /run/slurmctld.pid)
come '! scontrol show config > /dev/null 2>&1'
health tend 2> /out/silent.err
cp /run/drawbridge/metrics/health.prom /out/silent.prom
cp /var/lib/drawbridge/health/history.jsonl /out/history
"""


class Scene:
    """The nodes at each moment."""

    def __init__(self, out: Path) -> None:
        self.out = out

    def text(self, name: str) -> str:
        return (self.out / name).read_text()

    def nodes(self, moment: str) -> dict[str, Seen]:
        return {it.name: it for it in nodes(self.text(moment), {})}


@pytest.fixture(scope="module")
def scene(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("scene")
    upper = folder / "upper"
    library = upper / "usr/local/lib/drawbridge-health-controller/drawbridge"
    files = {
        upper / "etc/slurm/slurm.conf": CONF,
        upper / "etc/slurm/cgroup.conf": "CgroupPlugin=disabled\n",
        upper / "etc/drawbridge/health-controller.json": json.dumps(VIEW),
        upper / "usr/local/sbin/drawbridge-health": PROGRAM.read_text(),
        upper / "out/script": SCRIPT,
        upper / "out/reboot": BOOT,
        **{library / name: text for name, text in imported(PROGRAM.read_text(), source).items()},
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (upper / "out/reboot").chmod(0o755)
    for name in ("root", "work"):
        (folder / name).mkdir()
    place.run(SCENE, SCENE=folder)
    return Scene(upper / "out")


def test_a_finding_drains_its_node_alone(scene: Scene) -> None:
    found = scene.nodes("drained")
    assert found["n1"].reason == "drawbridge: health: [node reboot] GPU 3: GPUs present: lost"
    assert found["n1"].ours and not found["n1"].booted
    assert found["n1"].report.site == "RMA=17"
    assert not found["n2"].unavailable
    assert found["n4"].reason == "new fan, RMA=17 [a@b]"


def test_slurm_reboots_it_once_and_it_returns(scene: Scene) -> None:
    assert scene.nodes("ordered")["n1"].flags & {"REBOOT_REQUESTED", "REBOOT_ISSUED"}
    back = scene.nodes("back")["n1"]
    assert (back.state, back.flags & {"DRAIN"}) == ("DOWN", frozenset())
    assert back.ours and back.booted
    returned = scene.nodes("returned")["n1"]
    assert not returned.unavailable and not returned.ours
    assert returned.comment == "RMA=17"
    assert scene.text("returned.err") == ""


def test_a_breaker_keeps_nodes_and_survives_the_loss_of_its_memory(scene: Scene) -> None:
    for moment in ("kept", "recovered"):
        found = scene.nodes(moment)
        assert not any(found[name].unavailable for name in ("n1", "n2", "n3"))
        assert {it.report.kept for it in found.values()} == {"breaker site is open"}
        assert 'drawbridge_health_breaker_open{breaker="site"} 1\n' in scene.text(f"{moment}.prom")
    assert "open breakers in the nodes' records: site" in scene.text("recovered.err")
    shown = json.loads(scene.text("shown"))
    assert ([*shown["breakers"]], scene.text("shown.code")) == (["site"], "2\n")


def test_a_person_closes_it(scene: Scene) -> None:
    assert "  n1: drawbridge: health: /fs1 is not mounted\n" in scene.text("closed")


def test_the_next_look_drains_and_answers_no_more(scene: Scene) -> None:
    found = scene.nodes("closed-look")
    assert found["n1"].ours
    assert {it.report.kept for it in found.values()} == {""}
    assert (found["n2"].comment, found["n3"].comment) == ("", "")
    assert not scene.nodes("lifted")["n1"].unavailable


def test_a_person_says_that_a_repair_is_done(scene: Scene) -> None:
    assert scene.nodes("repair")["n2"].ours
    assert not scene.nodes("repaired")["n2"].unavailable
    assert scene.text("lift").startswith("n2 takes jobs again")


def test_drains_of_people_stay_from_begin_to_end(scene: Scene) -> None:
    last = scene.nodes("repaired")["n4"]
    assert (last.reason, last.flags & {"DRAIN"}) == ("new fan, RMA=17 [a@b]", {"DRAIN"})


def test_a_silent_slurmctld_is_said(scene: Scene) -> None:
    assert "slurmctld is silent, so nothing changes: " in scene.text("silent.err")
    assert "drawbridge_health_up 0\n" in scene.text("silent.prom")


def test_the_history_of_it_all(scene: Scene) -> None:
    entries = [json.loads(line) for line in scene.text("history").splitlines()]
    mine = [it["what"] for it in entries if it["node"] == "n1"]
    assert mine[:4] == ["found", "drained", "rebooted", "gone"]
    assert mine.count("lifted") == 2
    assert [it["what"] for it in entries if not it["node"]] == ["opened", "closed"]
