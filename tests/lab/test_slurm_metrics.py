# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The program that measures Slurm, beside real daemons: jobs start and end, nodes drain, slurmctld falls silent.

They run in namespaces of their own. With SLURM_SUITE=sid, slurmctld serves OpenMetrics too, as Drawbridge sets it up.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.openmetrics import lines
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.words import KEYS, known
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.model import SlurmMetrics
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.conformance.tree import ROOT
from tests.slurm_daemons import CONF as DAEMONS
from tests.slurm_daemons import SCENE, Place

pytestmark = pytest.mark.live

PROGRAM = ROOT / "roles/telemetry/files/drawbridge-slurm-metrics.py"
OPEN = SlurmMetrics(openmetrics=True, everyone=True)
CONF = f"""{DAEMONS}\
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
ReturnToService=2
SlurmdParameters=config_overrides
PrivateData=accounts,jobs,nodes,partitions,reservations,usage,users
NodeName=n[1-4] NodeHostname=ctl Port=[17001-17004] CPUs=4
PartitionName=train Nodes=n[1-3] Default=YES OverSubscribe=EXCLUSIVE
PartitionName=hidden Nodes=n4 Hidden=YES
"""
SCRIPT = """
export SLURM_TIME_FORMAT=%s
come() { for look in $(seq 3000); do if eval "$1"; then return; fi; sleep 0.1; done; echo "not so: $1"; exit 9; }
state() { come "squeue --noheader --states=all --jobs=$1 --format=%T | grep -qx $2"; }
measure() {
  /usr/bin/env -i python3 -I /usr/local/sbin/drawbridge-slurm-metrics 2> "/out/$1.err"
  cp /run/drawbridge/metrics/slurm.prom "/out/$1"
}
job() { sbatch --parsable --account=nlp --output=/dev/null "$@" --wrap "sleep 600"; }
munged --force
slurmctld
for node in n1 n2 n3 n4; do mkdir "/var/spool/slurmd-$node"; slurmd -N "$node"; done
come '[ "$(sinfo --all --noheader --Node --format=%T | sort -u)" = idle ]'
first=$(job)
state $first RUNNING
measure before
two=$(job --nodes=2)
state $two RUNNING
scancel $first
state $first CANCELLED
scontrol update nodename=n1 state=drain reason="drawbridge: health: /fs1 is not mounted"
scontrol update nodename=n4 state=drain reason="new fan, RMA=17 [a@b]"
job --array=1-3
job --partition=hidden,train --hold
measure after
python3 -I /out/get > /out/openmetrics 2>&1 || true
kill $(cat /run/slurmctld.pid)
come '! scontrol show config > /dev/null 2>&1'
measure silent
"""


GET = """
import socket
connection = socket.create_connection(("10.9.9.1", 6817), 60)
connection.sendall(b"GET /metrics/nodes HTTP/1.1\\r\\nHost: ctl\\r\\nConnection: close\\r\\n\\r\\n")
print(b"".join(iter(lambda: connection.recv(65536), b"")).decode())
"""
"""Without the libraries that Debian's smallest Python lacks."""


class Scene:
    """What the program wrote at each moment."""

    def __init__(self, out: Path) -> None:
        self.out = out

    def metrics(self, moment: str) -> dict[str, str]:
        """Values by name and labels, without the common start of names."""
        text = (self.out / moment).read_text().splitlines()
        pairs = (line.replace("drawbridge_slurm_", "").rpartition(" ") for line in text if line[0] != "#")
        return {name: value for name, _blank, value in pairs}

    def part(self, moment: str, name: str) -> dict[str, str]:
        """Samples of a family by their labels."""
        found = self.metrics(moment)
        return {key.partition("{")[2].rstrip("}"): found[key] for key in found if key.partition("{")[0] == name}


@pytest.fixture(scope="module")
def scene(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("scene")
    upper = folder / "upper"
    library = upper / "usr/local/lib/drawbridge-slurm-metrics/drawbridge"
    own = {key: value for key, value in lines(OPEN).items() if key.lower() in known(KEYS, place.release)}
    files = {
        upper / "etc/slurm/slurm.conf": CONF + "".join(f"{key}={value}\n" for key, value in own.items()),
        upper / "etc/slurm/cgroup.conf": "CgroupPlugin=disabled\n",
        upper / "etc/drawbridge/slurm-metrics.json": '{"slurm_user": "slurm"}',
        upper / "usr/local/sbin/drawbridge-slurm-metrics": PROGRAM.read_text(),
        upper / "out/script": SCRIPT,
        upper / "out/get": GET,
        **{library / name: text for name, text in imported(PROGRAM.read_text(), source).items()},
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in ("root", "work"):
        (folder / name).mkdir()
    place.run(SCENE, SCENE=folder)
    return Scene(upper / "out")


def test_a_node_names_its_job(scene: Scene) -> None:
    rest = 'user="root",account="nlp",partition="train"'
    assert [*scene.part("before", "node_job_info")] == [f'node="n1",job="1",{rest}']
    assert [*scene.part("after", "node_job_info")] == [f'node="n{at}",job="2",{rest}' for at in (2, 3)]


def test_a_drain_names_who_made_it_and_when(scene: Scene) -> None:
    assert [*scene.part("after", "node_drained_info")] == [
        'node="n1",origin="health",reason="drawbridge: health: /fs1 is not mounted"',
        'node="n4",origin="person",reason="new fan, RMA=17 [a@b]"',
    ]
    read = float(scene.metrics("after")["read_timestamp_seconds"])
    since = scene.part("after", "node_drained_since_timestamp_seconds")
    assert [*since] == ['node="n1"', 'node="n4"']
    assert all(0 <= read - float(value) < 600 for value in since.values())
    assert scene.part("after", "nodes") == {
        **{f'state="{state}"': "0" for state in ("idle", "mixed", "draining", "down")},
        **{'state="allocated"': "2", 'state="drained"': "2"},
    }


def test_starts_and_ends_count_from_the_first_look_on(scene: Scene) -> None:
    train = 'partition="train"'
    for moment, starts, ends in (("before", "0", "0"), ("after", "1", "1")):
        assert scene.part(moment, "job_starts_total")[train] == starts
        assert scene.part(moment, "job_ends_total")[train] == ends
    assert scene.part("after", "job_starts_total")['partition="hidden"'] == "0"
    assert 0 <= float(scene.part("after", "job_run_seconds_total")[train]) < 600
    assert (scene.metrics("before")["started_jobs_total"], scene.metrics("after")["started_jobs_total"]) == ("1", "2")


def test_the_queue_has_each_element_of_an_array_and_the_held_job(scene: Scene) -> None:
    found = scene.part("after", "jobs")
    assert found['partition="train",state="running"'] == "1"
    assert found['partition="train",state="pending"'] == "3"
    assert found['partition="hidden",state="pending"'] == "1"


def test_a_silent_slurmctld_is_said_and_leaves_no_old_values(scene: Scene) -> None:
    assert scene.metrics("silent") == {"up": "0"}
    assert "Unable to contact slurm controller" in (scene.out / "silent.err").read_text()
    assert (scene.out / "after.err").read_text() == ""


def test_openmetrics_are_for_everyone_as_the_intent_says(scene: Scene, place: Place) -> None:
    """Although all data are private. Of older releases no such line is in slurm.conf, and slurmctld still starts."""
    answer = (scene.out / "openmetrics").read_text()
    has = "metricsparameters" in known(KEYS, place.release)
    assert answer.startswith("HTTP/1.1 200 OK") == has
    assert ("\nslurm_nodes 4\n" in answer) == has
