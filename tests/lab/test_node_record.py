# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node's own record beside real daemons: what the programs on nodes read of it, and at which cost.

They run in namespaces of their own. With SLURM_SUITE=sid they are those of Debian's newest Slurm.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import UNAVAILABLE, Seen
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.own_record import seen

from tests.node_record import CALLS, HEALTH, Moment
from tests.slurm_daemons import CONF as DAEMONS
from tests.slurm_daemons import SCENE, Place

pytestmark = pytest.mark.live

CONF = f"""{DAEMONS}\
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
RebootProgram=/bin/true
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=86400
SuspendTimeout=600
ResumeTimeout=600
NodeName=n[1-5],lone NodeHostname=ctl Port=[17001-17006] CPUs=4
NodeName=dead NodeHostname=ctl Port=17007 CPUs=4
PartitionName=train Nodes=n[1-3],n5 Default=YES
PartitionName=two Nodes=n[1-2] State=INACTIVE
PartitionName=secret Nodes=n4 Hidden=YES RootOnly=YES
PartitionName=others Nodes=dead AllowGroups=daemon
"""
LINES = " one\n   State=DOWN\n   Reason=two [a@b] Comment=x\n\n three"
SIGNS = "100%s %n 'RMA'=17; [root@now] drawbridge health | \t{x}"
LETTERS = "Lüfter défekt 冷却"
LONG = "x" * 60_000
TWO_LINES = "power work\nComment=lost [a@b]"
MOMENTS = {
    **dict.fromkeys(("empty", "null", "null-begins", "lines", "signs", "letters", "long", "sign"), "n1"),
    **dict.fromkeys(("drained", "reason-lines", "none", "ordered"), "n3"),
    **dict.fromkeys(("mixed", "mixed-drained", "down"), "n2"),
    **dict.fromkeys(("no-partition", "no-partition-drained"), "lone"),
    **dict.fromkeys(("hidden", "maintained", "failing"), "n4"),
    "powering-down": "n5",
    "silent": "dead",
    "unknown": "nope",
}
"""The node of each moment."""
PASSING = {"NOT_RESPONDING", "COMPLETING"}
"""slurmctld clears them at any time."""
ONE_RECORD = set(MOMENTS) - {"mixed-drained", "down", "no-partition", "no-partition-drained", "sign", "unknown"}
READ = "\n".join(
    f'  {shlex.join([*call[:-1]])} {call[-1]}"$2" > "/out/$1.{name}" || true' for name, call in CALLS.items()
)
SCRIPT = f"""
come() {{ for look in $(seq 3000); do if eval "$1"; then return; fi; sleep 0.1; done; echo "not so: $1"; exit 9; }}
has() {{ come "scontrol show node $1 | grep -q '^   State=[A-Z_+]*$2'"; }}
change() {{ local node=$1; shift; scontrol update nodename=$node "$@"; }}
see() {{
  echo "$(date +%s.%N) $1" >> /out/times
{READ}
}}
job() {{ sbatch --parsable --output=/dev/null "$@" --wrap "sleep 600"; }}
munged --force
slurmctld
for node in n1 n2 n3 n4 n5 lone; do mkdir "/var/spool/slurmd-$node"; slurmd -N "$node"; done
for node in n1 n2 n3 n4 n5 lone; do has $node IDLE; done
scontrol create reservation reservationname=fans starttime=now duration=60 user=root flags=maint nodes=n4
change n5 state=power_down
change dead state=down reason=old
change dead state=resume

sdiag --reset > /out/reset
see before n1 > /dev/null
sdiag > /out/cost
see empty n1
change n1 comment='(null)'; see null n1
change n1 comment='(null) x'; see null-begins n1
change n1 comment={shlex.quote(LINES)}; see lines n1
change n1 comment={shlex.quote(SIGNS)}; see signs n1
change n1 comment={shlex.quote(LETTERS)}; see letters n1
change n1 comment={LONG}; see long n1
change n1 comment="$(printf 'a\\037b\\037c')"; see sign n1

change n3 comment=RMA state=drain reason='fan'; see drained n3
change n3 reason={shlex.quote(TWO_LINES)}; see reason-lines n3
change n3 reason=none; see none n3
change n3 state=undrain comment=
job --nodelist=n3 --exclusive
has n3 ALLOCATED
scontrol reboot reason='new kernel' n3; see ordered n3

job --nodelist=n2 --ntasks=1
has n2 MIXED
see mixed n2
change n2 state=drain reason='fan'; see mixed-drained n2
change n2 state=undrain
change n2 state=down reason='Not responding'; see down n2

see no-partition lone
change lone state=drain reason='fan' comment=RMA; see no-partition-drained lone
has n4 MAINTENANCE
see maintained n4
scontrol delete reservation=fans
come '! scontrol show node n4 | grep -q MAINTENANCE'
see hidden n4
change n4 state=fail reason='fan'; see failing n4
has n5 POWERING_DOWN
see powering-down n5
see silent dead
see unknown nope
"""


@pytest.fixture(scope="module")
def out(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scene")
    upper = folder / "upper"
    files = {"etc/slurm/slurm.conf": CONF, "etc/slurm/cgroup.conf": "CgroupPlugin=disabled\n", "out/script": SCRIPT}
    for name, text in files.items():
        (upper / name).parent.mkdir(parents=True, exist_ok=True)
        (upper / name).write_text(text)
    for name in ("root", "work"):
        (folder / name).mkdir()
    place.run(SCENE, SCENE=folder)
    return upper / "out"


@pytest.fixture
def moments(out: Path) -> dict[str, Moment]:
    return {name: Moment.of_folder(out, name, node) for name, node in MOMENTS.items()}


def test_slurmctld_sends_one_record(out: Path) -> None:
    """Both programs read once. The other calls are those of scontrol, for which slurmctld sends its whole table."""
    counts = dict(
        re.findall(r"^\s+(REQUEST_NODE_INFO\w*)\s+\(.*?count:(\d+)", (out / "cost").read_text(), re.MULTILINE)
    )
    assert counts == {"REQUEST_NODE_INFO_SINGLE": "2", "REQUEST_NODE_INFO": "2"}


def settled(node: Seen) -> frozenset[str]:
    """Flags that are the same a moment later."""
    return node.flags - PASSING


@pytest.mark.parametrize("name", sorted({*MOMENTS} - {"unknown"}))
def test_both_programs_read_what_scontrol_shows(
    name: str, moments: dict[str, Moment], monkeypatch: pytest.MonkeyPatch
) -> None:
    """scontrol's first line of a reason is the reason. A person's reason `none` is as good as none."""
    moment = moments[name]
    shown, read = seen(moment.outputs["shown"], moment.node), moment.seen()
    assert (read.state, settled(read), read.unavailable) == (shown.state, settled(shown), shown.unavailable)
    assert (read.reason.partition("\n")[0] or "none", read.comment) == (shown.reason or "none", shown.comment)
    assert moment.calls == (["report"] if name in ONE_RECORD else ["report", "shown"])
    moment.calls.clear()
    words, why = moment.words(monkeypatch)
    assert words - PASSING == {shown.state, *settled(shown)}
    assert (why, bool(words & {*UNAVAILABLE, "DOWN"})) == (read.reason, read.unavailable)
    assert moment.calls == (["health"] if name in ONE_RECORD | {"sign"} else ["health", "line"])


def test_no_text_of_a_person_is_lost(moments: dict[str, Moment]) -> None:
    texts = {"empty": "", "null": "(null)", "null-begins": "(null) x", "lines": LINES, "signs": SIGNS}
    texts |= {"letters": LETTERS, "long": LONG, "sign": "a\x1fb\x1fc", "drained": "RMA", "no-partition-drained": "RMA"}
    assert {name: moments[name].seen().comment for name in texts} == texts
    assert moments["reason-lines"].seen().reason == TWO_LINES
    assert moments["reason-lines"].seen().comment == "RMA"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("empty", Seen("n1", "IDLE")),
        ("drained", Seen("n3", "IDLE", frozenset({"DRAIN"}), "fan", "RMA")),
        ("failing", Seen("n4", "IDLE", frozenset({"FAIL"}), "fan")),
        ("ordered", Seen("n3", "ALLOCATED", frozenset({"REBOOT_REQUESTED"}), "new kernel")),
        ("mixed", Seen("n2", "MIXED")),
        ("mixed-drained", Seen("n2", "MIXED", frozenset({"DRAIN"}), "fan")),
        # one record alone shows it as mixed
        ("down", Seen("n2", "DOWN", frozenset(), "Not responding")),
        ("no-partition", Seen("lone", "IDLE")),
        ("hidden", Seen("n4", "IDLE")),
        ("maintained", Seen("n4", "IDLE", frozenset({"MAINTENANCE", "RESERVED"}))),
    ],
)
def test_a_state_has_its_flags(name: str, found: Seen, moments: dict[str, Moment]) -> None:
    read = moments[name].seen()
    assert replace(read, flags=settled(read)) == found


def test_one_record_alone_may_be_out_of_date(moments: dict[str, Moment]) -> None:
    """If this fails, slurmctld counts a node's jobs also for one record, and `mixed` is as certain as other states."""
    for name in ("report", "health"):
        assert moments["down"].outputs[name].startswith("mixed")


def test_a_node_that_slurm_does_not_know_is_an_error(
    moments: dict[str, Moment], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DeviceError, match="Node nope not found"):
        moments["unknown"].seen()
    with pytest.raises(HEALTH.Unhealthy, match="Node nope not found"):
        moments["unknown"].words(monkeypatch)
