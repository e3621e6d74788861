# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`drawbridge project` beside real daemons: slurmctld, slurmdbd and MariaDB accept its calls, as root and as a user.

tests/transcripts/slurm/usage_26.05.txt has the answers of a newer release: trees of other suites have no whole Python.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.tree import ROOT
from tests.slurm_daemons import ACCOUNTING, DATABASE, DBD_CONF, SCENE, Place
from tests.slurm_daemons import CONF as DAEMONS

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif("SLURM_SUITE" in os.environ, reason="trees of other suites have no whole Python"),
]

FILES = ROOT / "roles/drawbridge_status/files"
ROOM = {"path": "/gpfs/fs1/projects/proj", "mount": "/gpfs/fs1", "mode": "2770", "group": "people", "inodes": 1000}
LINES = (
    {"version": 1, "cluster": "demo"},
    {"name": "other", "state": "closed"},
    {
        **{
            "name": "proj",
            "budget": {"gpu_hours": 1, "period": "month"},
            "qos": ["project-proj"],
            "ends": "2099-12-31",
        },
        "directory": ROOM,
    },
)
CONF = f"""{DAEMONS}{ACCOUNTING}\
AccountingStorageEnforce=associations,limits,qos,safe
AccountingStorageTRES=gres/gpu
GresTypes=gpu
PrivateData=accounts,jobs,usage,users
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=ctl Port=17001 CPUs=4 Gres=gpu:4
PartitionName=train Nodes=n1 Default=YES
"""
SCRIPT = f"""
come() {{ for look in $(seq 3000); do if eval "$1"; then return; fi; sleep 0.1; done; echo "not so: $1"; exit 9; }}
ada() {{ setpriv --reuid 2001 --regid 2000 --clear-groups env HOME=/tmp "$@"; }}
state() {{ come "squeue --noheader --states=all --jobs=$1 --format=%T | grep -qx $2"; }}
project() {{ name=$1; shift; "$@" > "/out/$name" 2> "/out/$name.err" || echo $? > "/out/$name.code"; }}
for one in ada:2001:2000 ben:2003:2003; do echo "${{one%%:*}}:x:${{one#*:}}::/:/bin/sh" >> /etc/passwd; done
echo 'people:x:2000:ben' >> /etc/group
for one in 0 1 2 3; do mknod -m 666 "/dev/nvidia$one" c 195 "$one"; done
mkdir -p {ROOM["path"]}
mount -t tmpfs -o nr_inodes=1000,mode=2770,gid=2000 tmpfs {ROOM["path"]}
munged --force
{DATABASE}
slurmctld
come 'sacctmgr -nP list cluster | grep -q demo'
sacctmgr -i add qos project-proj set GrpTRESMins=gres/gpu=60 Flags=NoDecay
sacctmgr -i add account proj set qos=project-proj defaultqos=project-proj
sacctmgr -i add account other set GrpSubmitJobs=0
sacctmgr -i add user ada account=proj
sacctmgr -i add user ben account=other
mkdir /var/spool/slurmd-n1
slurmd -N n1
come '[ "$(sinfo --noheader --Node --format=%T)" = idle ]'
job=$(ada sbatch --parsable --account=proj --time=1 --gres=gpu:2 --output=/dev/null --wrap 'sleep 2')
state $job COMPLETED
waits=$(ada sbatch --parsable --account=proj --time=600 --gres=gpu:4 --output=/dev/null --wrap true)
come "squeue --noheader --jobs=$waits --format=%r | grep -qx QOSGrpGRESMinutes"
come 'sacct -nX --allusers --accounts=proj --format=state | grep -q COMPLETED'
tell="python3 -I /usr/local/bin/drawbridge project"
project list $tell list --json
project show $tell show proj --json
project report $tell report proj --json
project all $tell report --all --json
project mine ada $tell list --json
project text ada $tell show proj
project own ada $tell report proj --json
kill $(cat /run/slurmdbd.pid)
come '! sacctmgr -nP list cluster > /dev/null 2>&1'
project silent $tell report proj --json
"""


class Scene:
    """Output and exit codes of the calls."""

    def __init__(self, out: Path) -> None:
        self.out = out

    def text(self, name: str) -> str:
        return (self.out / name).read_text()

    def code(self, name: str) -> int:
        file = self.out / f"{name}.code"
        return int(file.read_text()) if file.is_file() else 0

    def data(self, name: str) -> dict[str, Any]:
        assert self.text(f"{name}.err") == ""
        return dict(json.loads(self.text(name)))


@pytest.fixture(scope="module")
def scene(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("scene")
    upper = folder / "upper"
    program = upper / "usr/local/lib/drawbridge-status/drawbridge"
    parts = [path for part in ("budget", "gate", "job", "project", "status") for path in (FILES / part).glob("*.py")]
    files = {
        upper / "etc/slurm/slurm.conf": CONF,
        upper / "etc/slurm/slurmdbd.conf": f"{DBD_CONF}PrivateData=accounts,jobs,usage,users\n",
        upper / "etc/slurm/cgroup.conf": "CgroupPlugin=disabled\n",
        upper / "etc/slurm/gres.conf": "Name=gpu File=/dev/nvidia[0-3]\n",
        upper / "etc/drawbridge/projects.json": "".join(f"{json.dumps(it, separators=(',', ':'))}\n" for it in LINES),
        upper / "usr/local/bin/drawbridge": (FILES / "drawbridge.py").read_text(),
        upper / "out/script": SCRIPT,
        **{program / path.parent.name / path.name: path.read_text() for path in parts},
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in ("root", "work"):
        (folder / name).mkdir()
    place.run(SCENE, SCENE=folder)
    return Scene(upper / "out")


def test_root_sees_all_projects_and_a_user_their_own(scene: Scene) -> None:
    assert [it["name"] for it in scene.data("list")["projects"]] == ["other", "proj"]
    assert scene.code("list") == 1, "one is closed"
    assert [it["name"] for it in scene.data("mine")["projects"]] == ["proj"]
    assert scene.code("mine") == 0
    other = scene.data("list")["projects"][0]
    assert (other["state"], other["takes_jobs"]) == ("closed", False)


def test_one_project_has_people_budget_files_and_waiting_jobs(scene: Scene) -> None:
    [shown] = scene.data("show")["projects"]
    assert (shown["people"], shown["takes_jobs"]) == (["ada"], True)
    hours = shown["budget"]["hours"]["GPU hours"]
    assert hours["limit"] == 1.0 and 0 <= hours["used"] < 0.5
    assert shown["files"] == {"limit": 1000, "used": 1}
    assert shown["directory"]["now"] == {"owner": "root", "group": "people", "mode": "2770"}
    assert [(it["state"], it["reason"]) for it in shown["jobs"]] == [("PENDING", "QOSGrpGRESMinutes")]


def test_a_user_reads_why_a_job_waits_and_what_private_data_hides(scene: Scene) -> None:
    text = scene.text("text")
    assert "1 waits (QOSGrpGRESMinutes): its time limit does not fit into the budget of QOS project-proj" in text
    assert "Note: PrivateData=accounts,jobs,usage,users: Slurm shows you your own use" in text
    assert "people      ada (1); PrivateData hides others" in text
    assert scene.code("text") == 0


def test_a_report_has_waits_and_jobs(scene: Scene) -> None:
    """slurmdbd adds up an hour when it is over, so the hours of users may still be missing."""
    shown = scene.data("report")
    assert (scene.code("report"), shown["complete"], shown["only_own_use"]) == (0, False, False)
    assert shown["wait"]["jobs"] == 1 and shown["wait"]["p95_s"] < 600
    [top] = shown["jobs"]
    assert (top["user"], top["gpus"], top["state"]) == ("ada", 2, "COMPLETED") and top["gpu_hours"] > 0
    assert shown["hours"] is not None and shown["notes"] == []
    assert scene.data("own")["only_own_use"]
    assert [it["project"] for it in scene.data("all")["projects"]] == ["other", "proj"]


def test_a_silent_slurmdbd_is_named(scene: Scene) -> None:
    shown = scene.data("silent")
    assert scene.code("silent") == 3 and shown["hours"] is None and shown["jobs"] is None
    assert shown["notes"][0].startswith("slurmdbd did not answer (sacctmgr: ")
    assert shown["budget"]["hours"]["GPU hours"]["used"] is not None
