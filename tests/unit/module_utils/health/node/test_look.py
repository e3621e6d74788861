# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import (
    FABRIC,
    Finding,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node import look as looking
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.look import (
    HELD,
    Files,
    Look,
    Noted,
    confirmed,
    idle,
    look,
    nhc,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.rows import CHECKS, checks_at
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks import collect, table
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import (
    STATE,
    Check,
    Output,
    Program,
    no_limit,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.limits import rail_pcie
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Measure,
    Missing,
    Remark,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools.output import stopped

from tests.unit.module_utils.proof.checks.healthy import NODE, OUTPUTS, SMI, TEXTS, ran

ONE, TWO = Program(("env", "-i", "LC_ALL=C", "/opt/tool", "-x"), 1), Program(("other",), 1)
LINK = "/sys/class/net/rail1/operstate"


def of(name: str) -> Check:
    return next(check for check in CHECKS if check.name == name)


def check(name: str, *found: Found, needs: Sequence[Program] = (), limit: Any = no_limit) -> Check:
    """A check of a row's name that finds this."""
    return Check(name, STATE, "", "", lambda node: True, lambda *_all: [*found], lambda node: needs, limit=limit)


def looked(*checks: Check, codes: Mapping[Program, int] | None = None, **files: Any) -> Look:
    outputs = [(one, Output("", "", code)) for one, code in (codes or {}).items()]
    return look(NODE, checks, outputs, Files(files.pop("texts", {}), **files))


def texts_of(look: Look) -> list[str]:
    return [str(it.finding) for it in look.noted]


def test_a_healthy_node_has_no_finding() -> None:
    checks = [check for check in checks_at("health") if check.kind == STATE]
    found = look(NODE, checks, ran(OUTPUTS, collect.programs(checks, NODE)), Files(TEXTS))
    assert (found.noted, found.doubtful) == ((), frozenset())


def test_what_a_node_may_lack_is_what_a_proof_may_lack() -> None:
    assert table.WARNINGS == looking.WARNINGS


@pytest.mark.parametrize(
    ("name", "found", "text"),
    [
        (
            "rail link",
            Remark("rail link", "gpu01 rail1", "mlx5_1 is down"),
            "[fabric] rail1: rail link: mlx5_1 is down",
        ),
        ("rail MTU", Remark("rail MTU", "gpu01 rail1", "it is 1500"), "rail1: rail MTU: it is 1500"),
        ("GPUs present", Remark("GPUs present", "gpu01", "one is gone"), "GPUs present: one is gone"),
        ("disk space", Remark("disk space", "gpu01 /tmp", "full"), "[user] /tmp: disk space: full"),
        (
            "GPU memory rows",
            Remark("GPU memory rows", "gpu01 GPU 1", "none left", ends="repair"),
            "[node repair] GPU 1: GPU memory rows: none left",
        ),
        # a NIC that the kernel has no more is this node's, and no cable's
        ("rail link", Missing("rail link", "gpu01 rail1", "no file"), "rail1: rail link: not measured: no file"),
        ("rail MTU", Remark("rail MTU", "gpu010 rail1", "other"), "gpu010 rail1: rail MTU: other"),
    ],
)
def test_a_finding_names_part_and_check_and_whose_fault_it_is(name: str, found: Found, text: str) -> None:
    seen = looked(check(name, found))
    assert (texts_of(seen), seen.doubtful) == ([text], {name})


@pytest.mark.parametrize(
    ("value", "texts"),
    [(50.0, []), (12.5, ["rail1: rail PCIe: 12.5 GB/s, below 50 GB/s (400 Gb/s of the rail / 8)"])],
)
def test_a_measure_is_judged_by_its_checks_limit(value: float, texts: list[str]) -> None:
    measure = Measure("rail PCIe", value, "GB/s", "gpu01 rail1")
    assert texts_of(looked(check("rail PCIe", measure, limit=lambda *_all: rail_pcie(400)))) == texts
    named = check("rail GID", measure, limit=lambda *_all: rail_pcie(400))
    assert texts_of(looked(named)) == [it.replace("PCIe: ", "GID: rail PCIe is ") for it in texts]
    assert texts_of(looked(check("rail PCIe", measure))) == []


def test_warnings_are_no_findings() -> None:
    seen = looked(
        check("optics", Remark("optics", "class h100", "copper", warning=True)),
        check("GPU clocks", Missing("not covered", "class h100", "GPU clocks: not read")),
    )
    warnings = ("class h100: optics: copper", "class h100: GPU clocks: not measured: GPU clocks: not read")
    assert seen == Look((), warnings)


def late(name: str, where: str = "gpu01", code: int = 124) -> Missing:
    return Missing(name, where, f"no GPU could be read: {stopped(code)}")


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (124, "GPUs present: tool does not answer"),
        (126, "GPUs present: tool can't be executed"),
        (127, "GPUs present: tool is not installed"),
        (HELD, "[node reboot] GPUs present: tool of an earlier check still hangs"),
        (-9, "GPUs present: tool: it was ended by signal 9"),
    ],
)
def test_a_program_without_an_answer_is_named_once_for_all_that_read_it(code: int, text: str) -> None:
    checks = [check(it, late(it, code=code), needs=[ONE]) for it in ("GPUs present", "GPU PCIe", "GPU clocks")]
    seen = looked(*checks, codes={ONE: code})
    assert (texts_of(seen), seen.doubtful) == ([text], {"GPUs present", "GPU PCIe", "GPU clocks"})


def test_a_program_that_a_check_can_do_without_is_not_named() -> None:
    """A check reads two programs, and one of them may lack."""
    some = (Remark("GPU clocks", "gpu01 GPU 1", "low"), Missing("GPU clocks", "gpu01 GPU 0", "not recognised"))
    seen = looked(check("GPU clocks", *some, needs=[ONE, TWO]), codes={ONE: 127, TWO: 0})
    assert texts_of(seen) == ["GPU 1: GPU clocks: low", "GPU 0: GPU clocks: not measured: not recognised"]
    assert seen.silent == frozenset()


def test_each_part_without_an_answer_is_named_where_its_program_is_called_first() -> None:
    parts = [late("optics", f"gpu01 rail{at}") for at in range(2)]
    seen = looked(
        check("optics", *parts, needs=[ONE, TWO]),
        check("rail drops", late("rail drops"), needs=[ONE, TWO]),
        codes={ONE: 124, TWO: 124},
    )
    assert texts_of(seen) == ["rail0: optics: tool does not answer", "rail1: optics: tool does not answer"]


def test_the_log_is_read_although_the_drivers_tool_hangs() -> None:
    fault = "[1.0] NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    outputs = {**OUTPUTS, SMI: Output("", "", 124), ("dmesg",): fault}
    checks = [of("GPUs present"), of("GPU faults in the log")]
    seen = look(NODE, checks, ran(outputs, collect.programs(checks, NODE)), Files({}))
    first, second = texts_of(seen)
    assert first == "GPUs present: nvidia-smi does not answer"
    assert second.startswith("[node reboot] GPU 0000:1b:00.0: GPU faults in the log: Xid 79")


def test_a_file_without_an_answer_is_named_once_and_hides_no_other_file() -> None:
    checks = checks_at("prolog")
    unread = [LINK, "/sys/class/net/rail1/mtu"]
    texts = {path: text for path, text in TEXTS.items() if path not in unread}
    seen = look(NODE, checks, [], Files({**texts, "/sys/class/net/rail0/mtu": "1500"}, unread, 124))
    assert texts_of(seen) == [f"rail link: {LINK} does not answer"]
    assert seen.doubtful == seen.unjudged == {"rail link", "rail MTU"}
    held = look(NODE, checks, [], Files({}, collect.files(checks, NODE), HELD))
    assert texts_of(held) == ["[node reboot] rail link: its files: the reader of an earlier check still hangs"]
    assert look(NODE, checks, [], Files(texts, unread, 124), strict=False) == Look((), (), seen.silent)


def noted(check: str, part: str, text: str = "x") -> Noted:
    return Noted(check, part, Finding(f"{part}: {check}: {text}"))


def test_a_finding_of_two_looks_counts_with_its_second_words() -> None:
    first = Look((noted("optics", "rail0"), noted("optics", "rail1"), noted("rail GID", "rail0")))
    second = Look((noted("optics", "rail0", "y"), noted("optics", "rail2")))
    assert [it.text for it in confirmed(first, second)] == ["rail0: optics: y"]
    assert confirmed(first, Look()) == ()


def test_history_counts_at_once_and_is_not_read_again() -> None:
    first = Look((noted("rail rates", "rail0"), noted("GPU faults in the log", "GPU 0"), noted("optics", "rail0")))
    assert first.doubtful == {"optics"}
    assert [it.text for it in confirmed(first, Look())] == ["rail0: rail rates: x", "GPU 0: GPU faults in the log: x"]


def test_a_log_that_could_not_be_read_once_is_no_finding() -> None:
    name = "GPU faults in the log"
    first = looked(check(name, late(name), needs=[ONE]), codes={ONE: 124})
    assert (texts_of(first), first.doubtful) == ([f"{name}: tool does not answer"], {name})
    assert confirmed(first, Look()) == ()
    assert confirmed(first, Look((noted(name, "GPU 0"),))) == (Finding(f"GPU 0: {name}: x"),)


def test_what_a_slow_program_says_at_the_second_try_counts() -> None:
    """A driver without persistence may always be late at first."""
    checks = [check("GPUs present", late("GPUs present"), needs=[ONE]), check("GPU PCIe", late("x"), needs=[ONE])]
    first = looked(*checks, codes={ONE: 124})
    assert confirmed(first, Look((noted("GPU PCIe", "GPU 3"),))) == (Finding("GPU 3: GPU PCIe: x"),)
    assert confirmed(first, Look((noted("rail GID", "rail3"),))) == ()


def test_of_parts_only_the_silent_ones_count_at_the_second_try() -> None:
    first = looked(check("rail drops", late("rail drops", "gpu01 rail0"), needs=[ONE]), codes={ONE: 124})
    second = Look((noted("rail drops", "rail0"), noted("rail drops", "rail1")))
    assert confirmed(first, second) == (Finding("rail0: rail drops: x"),)
    # its program is named by another check
    some = [check(name, late(name, "gpu01 rail0"), needs=[ONE]) for name in ("rail errors", "rail drops")]
    assert confirmed(looked(*some, codes={ONE: 124}), second) == (Finding("rail0: rail drops: x"),)


@pytest.mark.parametrize(
    ("out", "code", "text"),
    [
        ("", 0, None),
        ("", 1, "nhc: exit code 1"),
        (
            "ERROR:  nhc:  Health check failed:  check_fs_mount:  /scratch not mounted\n",
            1,
            "nhc: check_fs_mount: /scratch not mounted",
        ),
        # with -l -, and in detached mode
        (
            "Health check failed:  check_ps_service:  sshd is down\n",
            1,
            "nhc: Health check failed: check_ps_service: sshd is down",
        ),
        ("ERROR Health check failed:  no data\n", 1, "nhc: no data"),
        # with -a, the number comes last
        (
            "ERROR:  nhc:  Health check failed:  one\nERROR:  nhc:  Health check failed:  two\n"
            "ERROR:  nhc:  2 health checks failed.\n",
            2,
            "nhc: one",
        ),
        (
            "ERROR:  Prior NHC instance is still running (PID #7); is it hung?\n",
            145,
            "nhc: Prior NHC instance is still running (PID #7); is it hung?",
        ),
        ("ERROR:  nhc:  Health check failed:  No such check\n", 127, "nhc: No such check"),
        ("", 127, "nhc: nhc is not installed"),
        ("", 124, "nhc: nhc does not answer"),
        ("", HELD, "[node reboot] nhc: nhc of an earlier check still hangs"),
    ],
)
def test_nhc_says_its_first_error(out: str, code: int, text: str | None) -> None:
    assert texts_of(nhc(Output(out, "", code), "/usr/sbin/nhc")) == ([text] if text else [])
    assert nhc(Output("", out, code), "/usr/sbin/nhc") == nhc(Output(out, "", code), "/usr/sbin/nhc")


SCOPE = "0::/system.slice/slurmstepd.scope"


@pytest.mark.parametrize(
    ("processes", "free"),
    [
        ({}, False),
        ({1: ("systemd", "0::/init.scope")}, True),
        ({1: ("slurmstepd", f"{SCOPE}/system")}, True),
        ({1: ("slurmstepd", f"{SCOPE}/job_7/step_extern/slurm")}, False),
        ({1: ("python", f"{SCOPE}/job_7/step_batch/user/task_0")}, False),
        ({1: ("python", "9:memory:/slurm/uid_1/job_7/step_0\n1:cpu:/slurm/uid_1/job_7/step_0")}, False),
        # of newer releases, which name no job
        ({1: ("python", f"{SCOPE}/s0DDK1KKE5P700/step_0/user/task_0")}, False),
        # without control groups
        ({1: ("slurmstepd", "0::/system.slice/slurmd.service")}, False),
    ],
)
def test_a_node_is_idle_without_a_process_of_a_step(processes: dict[int, tuple[str, str]], free: bool) -> None:
    texts = {f"/proc/{pid}/comm": f"{comm}\n" for pid, (comm, _group) in processes.items()}
    assert idle({**texts, **{f"/proc/{pid}/cgroup": f"{group}\n" for pid, (_comm, group) in processes.items()}}) == free


def test_of_equal_findings_one_remains() -> None:
    twice = check("rail link", *[Remark("rail link", "gpu01 rail1", "down")] * 2)
    assert looked(twice).noted == (Noted("rail link", "rail1", Finding("rail1: rail link: down", FABRIC)),)
