# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator

import pytest

from roles.slurm_gate.files.gate import verbs
from roles.slurm_gate.files.gate.api import Unreachable
from roles.slurm_gate.files.gate.config import Refused
from roles.slurm_gate.files.gate.notes import Notes
from roles.slurm_gate.files.gate.verbs import run
from tests.unit.roles.slurm_gate.cluster import JOB, RUNNING, Made, hold, own_token

DRAIN = "scontrol update nodename=gpu01 state=drain reason=drawbridge gate: "


def stop(error: Exception) -> Callable[..., None]:
    def verb(*args: object) -> None:
        raise error

    return verb


def failing(monkeypatch: pytest.MonkeyPatch, at: Made, error: Exception, **job: object) -> int:
    monkeypatch.setattr(verbs, "open_job", stop(error))
    at.slurm.jobs[4711] = RUNNING._replace(**job)
    return run("open", at)


@pytest.mark.parametrize("whole", [{}, {"SLURM_JOB_EXCLUSIVE": "NODE"}], ids=["24.11", "26.05"])
def test_a_job_from_its_first_script_to_its_last(whole: dict[str, str], at: Made) -> None:
    at.env.update(whole)
    assert run("open", at) == 0
    assert set(at.cluster.values()) == {"vision.4711"}
    assert run("end", at) == 0
    assert not at.notes.names("run-")
    for node in JOB.nodes:
        at.env.update({"SLURMD_NODENAME": node})
        assert run("close", at) == 0
    assert set(at.cluster.values()) == {"closed"}
    assert not at.slurm.told, "Slurm is asked and told nothing on a job's path"
    assert [json.loads(line)["event"] for line in at.log.lines] == ["open"] * 2 + ["dirty"] * 2 + ["close"] * 2


def test_a_refusal_names_its_cause_and_drains_what_caused_it(at: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    assert failing(monkeypatch, at, Refused("gpu02 is dirty", {"gpu02": "end its pods"})) == 1
    assert at.slurm.comments[4711] == "drawbridge gate: try 1 of 5 (run 0): gpu02 is dirty"
    assert at.slurm.told == ["scontrol update nodename=gpu02 state=drain reason=drawbridge gate: end its pods"]


def test_an_epilog_that_fails_as_well_does_not_hide_which_try_it_was(at: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slurm runs EpilogSlurmctld after a PrologSlurmctld that failed: without an API server both do, five times."""
    monkeypatch.setattr(verbs, "close_job", stop(Unreachable("no answer either")))
    for restart in range(5):
        at.env["SLURM_JOB_RESTART_COUNT"] = str(restart)
        assert failing(monkeypatch, at, Unreachable("no answer"), restarts=restart) == 1
        assert run("end", at) == 1
    assert at.slurm.comments[4711] == "drawbridge gate: try 5 of 5 (run 4): no answer"
    assert at.slurm.told == ["scontrol requeuehold 4711"]


def test_an_epilog_that_fails_after_its_run_was_opened_says_so(at: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, at, Unreachable("no answer"), restarts=0)
    monkeypatch.setattr(verbs, "close_job", stop(Unreachable("no answer at its end")))
    at.env["SLURM_JOB_RESTART_COUNT"] = "2"
    assert run("end", at) == 1
    assert at.slurm.comments[4711] == "drawbridge gate: no answer at its end"


@pytest.mark.parametrize("lacks", ["batch", "requeue"])
def test_a_job_that_can_not_run_again_ends_with_the_cause(
    lacks: str, at: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    at.slurm.comments[4711] = "drawbridge gate: try 4 of 5 (run 3): no answer"
    assert failing(monkeypatch, at, Unreachable("no answer"), restarts=4, **{lacks: False}) == 1
    assert at.slurm.told == ["scontrol notify 4711 drawbridge gate: no answer"]


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"SLURM_JOB_OVERSUBSCRIBE": "OK"}, "its line in slurm.conf needs OverSubscribe=EXCLUSIVE"),
        ({"SLURM_JOB_OVERSUBSCRIBE": ""}, "its line in slurm.conf needs OverSubscribe=EXCLUSIVE"),
        ({"SLURM_JOB_EXCLUSIVE": "NO"}, "its line in slurm.conf needs OverSubscribe=EXCLUSIVE"),
        ({"SLURM_JOB_NODELIST": "gpu[04-05]"}, "gpu05 is not in drawbridge_slurm's partition ai-train"),
        ({"SLURM_JOB_NODELIST": ""}, "Slurm named no node"),
        ({"SLURM_JOB_ACCOUNT": "rich"}, "'rich' has no Kubernetes namespace; submit with one of: vision"),
        ({"SLURM_HET_JOB_ID": "4710"}, "heterogeneous"),
    ],
)
def test_a_job_that_must_not_open_is_refused_before_any_request(change: dict[str, str], cause: str, at: Made) -> None:
    at.env.update(change)
    assert run("open", at) == 1
    assert at.cluster.log == []
    assert at.slurm.comments[4711].startswith("drawbridge gate: try 1") and cause in at.slurm.comments[4711]


@pytest.mark.parametrize("silent", [False, True])
def test_a_slurm_that_starts_again_hears_the_reason_all_the_same(
    silent: bool, at: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the dispatcher's words instead, no program would lift the drain."""
    monkeypatch.setattr(verbs, "close_node", stop(Unreachable("no answer")))
    at.slurm.silent = silent
    monkeypatch.setattr(at.clock, "sleep", lambda seconds: setattr(at.slurm, "silent", False))
    assert run("close", at) == 1
    assert at.slurm.told == [f"{DRAIN}not proven empty, no answer"]


@pytest.mark.parametrize("error", [Unreachable("no answer"), Refused("no"), KeyError("surprise")])
def test_an_open_node_starts_the_job_without_its_token(
    error: Exception, opened: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verbs.tokens, "deliver", stop(error))
    opened.slurm.jobs[4711] = RUNNING
    assert run("deliver_token", opened) == 0
    assert opened.slurm.told == []


@pytest.mark.parametrize("verb", ["open", "end", "deliver_token", "close"])
def test_jobs_of_other_partitions_pass(verb: str, at: Made) -> None:
    at.env.update({"SLURM_JOB_PARTITION": "hpc"})
    assert run(verb, at) == 0
    assert at.cluster.log == []


@pytest.mark.parametrize(("running", "on_gpus"), [(["slurm-9-r0-0"], {}), ([], {7: "ghost"})])
def test_but_not_onto_a_node_where_something_else_lives(running: list[str], on_gpus: dict[int, str], at: Made) -> None:
    at.env.update({"SLURM_JOB_PARTITION": "hpc"})
    at.host.running, at.host.on_gpus = running, on_gpus
    assert run("deliver_token", at) == 1
    assert at.slurm.told[0].startswith(DRAIN)


@pytest.mark.parametrize("partition", ["hpc", "ai-train"])
def test_what_another_job_left_here_keeps_both_kinds_of_job_away(partition: str, at: Made) -> None:
    """Its epilog has not closed this node; a job's own number is no reason, since it may run again."""
    at.env.update({"SLURM_JOB_PARTITION": partition})
    (at.jobs / "99").mkdir()
    assert run("deliver_token", at) == 1
    assert "reason=drawbridge gate: job 99 has not been closed here yet" in at.slurm.told[0]
    (at.jobs / "99").rmdir()
    (at.jobs / "4711").mkdir()
    assert run("deliver_token", at) == (0 if partition == "ai-train" else 1)


def test_a_gated_job_starts_beside_its_own_pods_and_no_others(at: Made) -> None:
    at.host.running = ["slurm-4711-r0-0"]
    assert run("deliver_token", at) == 0
    at.host.running.append("cart")
    assert run("deliver_token", at) == 1
    assert "container cart still runs" in at.slurm.told[0]


def test_a_process_that_is_just_ending_gets_a_moment(at: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    at.env.update({"SLURM_JOB_PARTITION": "hpc"})
    at.host.on_gpus = {7: "ending"}
    monkeypatch.setattr(at.clock, "sleep", lambda seconds: at.host.on_gpus.clear())
    assert run("deliver_token", at) == 0


def test_a_neighbours_processes_are_no_reason(at: Made) -> None:
    """Jobs of other partitions share a node."""
    at.env.update({"SLURM_JOB_PARTITION": "hpc"})
    at.host.on_gpus, at.slurm.processes = {7: "train"}, {7: 4000}
    assert run("deliver_token", at) == 0


def test_a_job_that_can_not_be_served_has_nothing_to_close(at: Made) -> None:
    at.env.update({"SLURM_JOB_ACCOUNT": "rich"})
    assert [run(verb, at) for verb in ("open", "end", "deliver_token", "close")] == [1, 0, 0, 0]


@pytest.mark.parametrize("namespaces", [{}, {"vision": "seeing"}], ids=["dropped", "renamed"])
def test_a_job_is_closed_where_it_was_opened(namespaces: dict[str, str], opened: Made) -> None:
    """Its account may have lost its namespace since, or got another."""
    assert run("deliver_token", opened) == 0
    cluster = opened.cluster
    opened = opened._replace(config=opened.config._replace(namespaces=namespaces))
    opened.cluster = cluster
    assert [run(verb, opened) for verb in ("end", "close")] == [0, 0]
    assert opened.cluster.values() == ["closed", "dirty_vision.4711"]


@pytest.mark.parametrize("identity", ["opener", "reconciler", "health", "node"])
def test_a_damaged_token_does_not_keep_the_timer_from_its_other_work(identity: str, at: Made) -> None:
    reconciled(at, "opener", "reconciler", "health", "node")
    at.log.lines.clear()
    at.token(identity).write_text("")
    assert run("reconcile", at) == 1
    assert not [line for line in at.log.lines if "crashed" in line]
    assert run("boot", at) == (1 if identity == "node" else 0)


@pytest.mark.parametrize(("started", "too_late"), [("1000", False), ("900", True), ("0", False), ("1100", False)])
def test_an_epilog_that_comes_after_the_next_run_began_leaves_that_alone(
    started: str, too_late: bool, opened: Made
) -> None:
    opened.env.update({"SLURM_JOB_START_TIME": started})
    (opened.jobs / "4711").mkdir()
    (opened.jobs / "4711/run").write_text(json.dumps({"started": 1000}))
    assert run("end", opened) == 0
    assert (set(opened.cluster.values()) == {"vision.4711"}) is too_late
    run("close", opened)
    assert (opened.cluster.value("gpu01") == "vision.4711") is too_late


def test_a_surprise_is_logged_and_nothing_stays_open(at: Made) -> None:
    def surprise(method: str, path: str) -> None:
        if method == "POST" and path.endswith("rolebindings"):
            raise KeyError("surprise")

    at.cluster.before = surprise
    assert run("open", at) == 1
    assert set(at.cluster.values()) == {"dirty_vision.4711"}
    assert not any("serviceaccounts" in path for path in at.cluster.objects)
    assert "surprise" in at.log.lines[-1]


def test_an_epilog_with_a_surprise_drains_with_the_gates_reason(opened: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program may lift a drain with Slurm's own reason."""
    monkeypatch.setattr(verbs, "close_node", stop(KeyError("surprise")))
    assert run("close", opened) == 1
    assert "state=drain reason=drawbridge gate: not proven empty, the gate failed with KeyError" in opened.slurm.told[0]


def reconciled(at: Made, *identities: str) -> int:
    for identity in identities:
        at.token(identity).write_text(own_token("drawbridge-nodes", "gpu01"))
        at.clock.seconds = at.token(identity).stat().st_mtime
    return run("reconcile", at)


def test_the_timer_closes_what_no_epilog_closed_and_says_how_things_stand(at: Made) -> None:
    hold(at.cluster)
    assert reconciled(at, "reconciler", "node") == 0
    assert at.cluster.values() == ["closed", "dirty_vision.4711"]
    published = (at.etc.parent / "gate.prom").read_text()
    assert 'drawbridge_gate_node_state{state="dirty"} 1' in published or 'state="held"' in published
    assert "drawbridge_gate_reconciled_timestamp_seconds" in published


def exported(at: Made) -> dict[str, float]:
    lines = (at.etc.parent / "gate.prom").read_text().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


def test_a_node_that_cant_be_repaired_still_shows_its_state(at: Made) -> None:
    hold(at.cluster, "dirty_vision.4711")
    at.slurm.silent = True
    assert reconciled(at, "node") == 1
    states = {name: value for name, value in exported(at).items() if "node_state" in name}
    assert states.pop('drawbridge_gate_node_state{state="dirty"}') == 1
    assert list(states.values()) == [0] * 4
    assert exported(at)["drawbridge_gate_reconciled_timestamp_seconds"] == 0


def test_crashes_are_counted_where_every_run_crashes(at: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verbs, "repair_node", stop(KeyError("planted")))
    assert [reconciled(at, "node"), reconciled(at, "node")] == [1, 1]
    assert exported(at)['drawbridge_gate_events_total{event="crashed"}'] == 1, "of the run before"
    assert exported(at)["drawbridge_gate_reconciled_timestamp_seconds"] == 0


def test_a_policy_that_changed_is_reported_before_a_job_meets_it(at: Made) -> None:
    assert reconciled(at, "opener") == 0
    assert exported(at)["drawbridge_gate_policies_in_force"] == 1
    at.cluster.objects.pop("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/drawbridge-job-pods")
    assert reconciled(at, "opener") == 0
    assert exported(at)["drawbridge_gate_policies_in_force"] == 0
    assert "policies changed" in at.log.lines[-1]


def test_a_timer_with_nothing_to_do_writes_nothing_to_the_disk(at: Made) -> None:
    reconciled(at, "node")
    before = {path: path.stat().st_mtime_ns for path in (at.etc.parent / "state").iterdir()}
    reconciled(at, "node")
    assert before == {path: path.stat().st_mtime_ns for path in (at.etc.parent / "state").iterdir()}


def test_the_timer_forgets_tokens_of_jobs_that_have_left(at: Made) -> None:
    (at.jobs / "4711").mkdir()
    reconciled(at, "node")
    assert not list(at.jobs.iterdir())


@pytest.mark.parametrize(("error", "left"), [(None, []), (Refused("no"), ["script-4711-close"])])
def test_a_script_that_fails_leaves_a_note(
    error: Exception | None, left: list[str], opened: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slurm may learn of the failure alone, and drain the node in its own words."""
    if error:
        monkeypatch.setattr(verbs, "close_node", stop(error))
    run("end", opened)
    run("close", opened)
    assert opened.notes.names("script-") == left


def test_a_good_epilog_makes_no_good_prolog(at: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    at.env.update({"SLURM_JOB_PARTITION": "hpc"})
    monkeypatch.setattr(verbs, "require_empty", stop(Refused("no")))
    assert [run(verb, at) for verb in ("deliver_token", "close")] == [1, 0]
    assert at.notes.names("script-") == ["script-4711-deliver_token"]


def test_a_slurmd_that_is_started_again_waits_for_no_epilog(at: Made) -> None:
    class Held(Notes):
        @contextlib.contextmanager
        def locked(self, number: int, wait: bool = True) -> Iterator[bool]:
            assert not wait, "an epilog has it for minutes"
            yield False

    reconciled(at, "node")
    assert run("boot", at._replace(notes=Held(at.notes._root))) == 0
