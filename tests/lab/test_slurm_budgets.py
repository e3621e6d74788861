# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Budgets, ends and groups of people beside real daemons: slurmctld, slurmdbd and MariaDB, in namespaces of their own.

Drawbridge's model, view and module make the QOS and accounts. With SLURM_SUITE=sid the daemons are Debian's newest.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.model import (
    Account,
    Budget,
    Qos,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.view import accounting
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.budget import usage, words
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.model import Slurm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.resets.view import budget
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from tests.conformance.tree import ROOT
from tests.slurm_daemons import ACCOUNTING, DATABASE, DBD_CONF, SCENE, Place
from tests.slurm_daemons import CONF as DAEMONS

pytestmark = pytest.mark.live

PROGRAM = ROOT / "roles/slurm_controller/files/drawbridge-budget.py"
KEPT = Qos("kept", budget=Budget(gpu_hours=1, node_hours=500, period="month"), usage_factor="900", grace_time_s=90)
PROJ = Account("proj", users=("ada",), groups=("people", "nowhere"), qos=("normal", "kept"))
SITE = Slurm("demo", "ctl", (), (PROJ, Account("other", users=("ben",))), qos=(KEPT,))
ENDED = replace(SITE, accounts=(replace(PROJ, ends="2020-01-31"), SITE.accounts[1]))
CONF = f"""{DAEMONS}{ACCOUNTING}\
AccountingStorageEnforce=associations,limits,qos,safe
AccountingStorageTRES=gres/gpu
GresTypes=gpu
PriorityDecayHalfLife=1
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=n1 NodeHostname=ctl Port=17001 CPUs=4 Gres=gpu:4
PartitionName=train Nodes=n1 Default=YES
"""
"""Use that decays is half after a minute."""
MODULE = """
import json, sys
from datetime import date
sys.path.insert(0, "/usr/local/lib/module")
from drawbridge.core.command import Command
from drawbridge.core.converge import converge
from drawbridge.slurm.accounting.io import Accounting, members
from drawbridge.slurm.accounting.plan import plan
from drawbridge.slurm.accounting.wanted import wanted
given, run = json.load(open("/out/accounting.json")), Command(60)
accounts = [{"keep_users": False, **it} for it in given["accounts"]]
people = members(run, [group for it in accounts for group in it.get("groups", [])])
want = wanted(accounts, given["qos"], given["absent"], people, date.today())
print(json.dumps(converge(Accounting(run, given["cluster"], want), plan, want).result()))
"""
"""slurm_accounting without Ansible."""
SCRIPT = f"""
come() {{ for look in $(seq 3000); do if eval "$1"; then return; fi; sleep 0.1; done; echo "not so: $1"; exit 9; }}
ada() {{ setpriv --reuid 2001 --regid 2000 --clear-groups env HOME=/tmp "$@"; }}
module() {{ python3 -I /out/module > "/out/$1"; }}
look() {{
  /usr/bin/env -i python3 -I /usr/local/sbin/drawbridge-budget tend 2> "/out/$1.err" || echo $? > "/out/$1.code"
  use "$1"
}}
use() {{
  scontrol --oneliner show assoc_mgr flags=qos qos=kept,normal > "/out/$1.use"
  sshare --all --noheader --parsable2 --format=account,user,rawusage > "/out/$1.share"
}}
raw() {{ scontrol --oneliner show assoc_mgr flags=qos qos=$1 2> /dev/null | grep -o 'UsageRaw=[0-9.]*'; }}
state() {{ come "squeue --noheader --states=all --jobs=$1 --format=%T | grep -qx $2"; }}
waits() {{ come "squeue --noheader --jobs=$1 --format=%r | grep -qx $2"; }}
job() {{ ada sbatch --parsable --account=proj --time=1 --output=/dev/null "$@"; }}
for one in ada:2001:2000 eve:2002:2000 ben:2003:2003; do
  echo "${{one%%:*}}:x:${{one#*:}}::/:/bin/sh" >> /etc/passwd
done
echo 'people:x:2000:ben' >> /etc/group
for one in 0 1 2 3; do mknod -m 666 "/dev/nvidia$one" c 195 "$one"; done
munged --force
{DATABASE}
slurmctld
come 'sacctmgr -nP list cluster | grep -q demo'
module made
module again
mkdir /var/spool/slurmd-n1
slurmd -N n1
come '[ "$(sinfo --noheader --Node --format=%T)" = idle ]'

spent=$(job --qos=kept --gres=gpu:4 --wrap 'sleep 2')
decays=$(job --qos=normal --wrap 'sleep 2')
state $spent COMPLETED
state $decays COMPLETED
next=$(job --qos=kept --gres=gpu:1 --wrap 'sleep 600')
waits $next QOSGrpGRESMinutes
ada scontrol --oneliner show assoc_mgr flags=qos qos=kept > /out/user.use
scontrol hold $next
use spent
before=$(raw normal)
sleep 1
scontrol reconfigure
come '[ -n "$(raw normal)" ] && [ "$(raw normal)" != "'$before'" ]'
use decayed
look first
sed -i 's/"since": "[^"]*"/"since": "2020-01-01"/' /var/lib/drawbridge/budget/periods.json
look reset
look twice
# a crash, in a later second
now=$(date +%s)
come '[ $(date +%s) -gt '$now' ]'
kill -9 $(cat /run/slurmctld.pid)
slurmctld
come '[ -n "$(raw kept)" ]'
use lost
look anew
scontrol release $next
state $next RUNNING
scancel $next
come '! squeue --noheader | grep -q .'

cp /out/ends.json /etc/drawbridge/budget.json
running=$(job --qos=normal --wrap 'sleep 600')
state $running RUNNING
look closes
job --wrap true 2> /out/refused || true
squeue --noheader --jobs=$running --format=%T > /out/goes-on
look closed
cp /out/accounting.json /out/site.json
cp /out/ended.json /out/accounting.json
module ended
cp /out/site.json /out/accounting.json
sacctmgr -i modify qos where name=kept set Flags=DenyOnLimit GrpTRESMins=gres/gpu=7,cpu=5 GraceTime=1 UsageFactor=3
module repaired
module right
"""


class Scene:
    """Outputs at each moment."""

    def __init__(self, out: Path) -> None:
        self.out = out

    def text(self, name: str) -> str:
        return (self.out / name).read_text()

    def module(self, moment: str) -> dict[str, Any]:
        return dict(json.loads(self.text(moment)))

    def use(self, moment: str) -> dict[str, usage.Usage]:
        return usage.parsed(self.text(f"{moment}.use"))

    def share(self, moment: str) -> dict[str, int]:
        rows = (line.strip().split("|") for line in self.text(f"{moment}.share").splitlines())
        return {f"{account.strip()}/{user}": int(raw) for account, user, raw in rows}


@pytest.fixture(scope="module")
def scene(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("scene")
    upper = folder / "upper"
    libraries = {"drawbridge-budget": PROGRAM.read_text(), "module": MODULE}
    files = {
        upper / "etc/slurm/slurm.conf": CONF,
        upper / "etc/slurm/slurmdbd.conf": DBD_CONF,
        upper / "etc/slurm/cgroup.conf": "CgroupPlugin=disabled\n",
        upper / "etc/slurm/gres.conf": "Name=gpu File=/dev/nvidia[0-3]\n",
        upper / "etc/drawbridge/budget.json": json.dumps(budget(SITE)),
        upper / "usr/local/sbin/drawbridge-budget": PROGRAM.read_text(),
        upper / "out/script": SCRIPT,
        upper / "out/module": MODULE,
        upper / "out/accounting.json": json.dumps(accounting(SITE)),
        upper / "out/ended.json": json.dumps(accounting(ENDED)),
        upper / "out/ends.json": json.dumps(budget(ENDED)),
        **{
            upper / f"usr/local/lib/{name}/drawbridge" / path: text
            for name, program in libraries.items()
            for path, text in imported(program, source).items()
        },
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in ("root", "work"):
        (folder / name).mkdir()
    place.run(SCENE, SCENE=folder)
    return Scene(upper / "out")


RESET = "the budget of QOS kept begins anew, for the period from 20[0-9]{2}-[0-9]{2}-01\n"
MISSING = (
    "let the members of group nowhere charge proj: the controller's operating system has no such group, "
    "so the account keeps the users that it has"
)


def test_the_intent_is_in_slurmdbd_and_a_second_run_reads_only(scene: Scene) -> None:
    made = scene.module("made")
    assert made["steps"] == [
        "add qos kept",
        "set qos kept: Flags=NoDecay GraceTime=90 UsageFactor=900 GrpTRESMins=gres/gpu=60,node=30000",
        "add account proj,other",
        "set account proj: qos=kept,normal",
        # eve has the group as her own, ben is in its list
        "let ada,ben,eve charge proj",
        "let ben charge other",
    ]
    assert scene.module("again") == {"changed": False, "steps": [], "pending": [MISSING]}


def test_a_job_waits_for_its_budget_and_its_user_reads_why(scene: Scene) -> None:
    seen = scene.use("user")["kept"]
    gpus = seen.budget["gres/gpu"]
    assert (gpus.limit, gpus.left) == (60, 0)
    assert gpus.used >= 60
    said = words.waits("QOSGrpGRESMinutes", "kept", seen, "month", date(2027, 3, 31))
    assert f"{words.hours(gpus.used)} of 1 GPU hours are used, so 0 are left; it begins anew on 2027-04-01" in said


def test_use_of_a_budget_does_not_decay(scene: Scene) -> None:
    before, after = scene.use("spent"), scene.use("decayed")
    assert after["normal"].raw < before["normal"].raw
    assert after["kept"] == before["kept"]


def test_the_first_look_resets_nothing(scene: Scene) -> None:
    assert scene.use("first")["kept"].total == scene.use("spent")["kept"].total > 0
    assert scene.text("first.err") == ""


def test_a_new_period_resets_use_once_and_leaves_fair_share_alone(scene: Scene) -> None:
    """The scene then waits until the job runs that has waited for the budget."""
    assert re.fullmatch(RESET, scene.text("reset.err"))
    assert scene.use("reset")["kept"].total == 0
    assert scene.share("reset")["proj/ada"] == scene.share("first")["proj/ada"] > 0
    assert scene.text("twice.err") == ""


def test_a_reset_that_a_crash_of_slurmctld_lost_is_made_again(scene: Scene) -> None:
    assert scene.use("lost")["kept"].total >= scene.use("first")["kept"].total
    assert re.fullmatch(RESET, scene.text("anew.err"))
    assert scene.use("anew")["kept"].total == 0


def test_an_account_past_its_end_takes_no_jobs_and_those_that_run_go_on(scene: Scene) -> None:
    assert scene.text("closes.err") == "account proj ended on 2020-01-31: it takes no more jobs\n"
    assert scene.text("refused").startswith("sbatch: error: AssocGrpSubmitJobsLimit\n")
    assert "Job violates accounting/QOS policy (job submit limit, " in scene.text("refused")
    assert scene.text("goes-on") == "RUNNING\n"
    assert scene.text("closed.err") == ""
    assert scene.module("ended")["steps"] == []


def test_drift_is_named_and_repaired_and_a_later_end_opens_the_account(scene: Scene) -> None:
    assert scene.module("repaired")["steps"] == [
        "set qos kept: Flags=NoDecay GraceTime=90 UsageFactor=900 GrpTRESMins=cpu=-1,gres/gpu=60",
        "set account proj: GrpSubmitJobs=-1",
    ]
    assert scene.module("right")["steps"] == []


def test_no_look_failed(scene: Scene) -> None:
    assert [path.name for path in scene.out.glob("*.code")] == []
