# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The gate's verbs, from the environment to the exit code that Slurm acts on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import metrics, retry, scripts, tokens
from .api import Api, Unreachable
from .closer import close_job, close_node, not_empty
from .config import Job, NotGated, Refused, require_whole_nodes
from .decide import STATES, state
from .gate_names import HEALTH, OPENER, RECONCILER
from .nodes import taint
from .notes import NODE as NODE_LOCK
from .opener import compare_guards, open_job
from .proof import require_alone, require_empty
from .repair import boot_node, booted, repair_cluster, repair_node
from .slurm import NoAnswer
from .unopened import Unopened, end_unopened, leave, namespace_here, require_open
from .world import NODE, World

EMPTY_S = 10.0  # processes of the last job may just be ending
RECONCILE_S = 15.0  # the timer runs again
DRAIN_AGAIN_S = (2.0, 5.0)  # pauses between tries: slurmctld restarts, or is busy


def run(verb: str, world: World) -> int:
    """Run one verb."""
    if verb not in ON_NODE:
        return _run(verb, world)
    number = int(world.env["SLURM_JOB_ID"])
    scripts.begin(verb, number, world)
    code = _run(verb, world)
    if not code:
        scripts.done(verb, number, world)
    return code


def _run(verb: str, world: World) -> int:
    begun = world.clock.now()
    try:
        code = ALONE[verb](world) if verb in ALONE else _for_job(verb, world)
    except NotGated:
        return 0
    except Exception as err:
        import traceback

        # Slurm does not log the output of its controller's scripts
        where = traceback.extract_tb(err.__traceback__)[-1]
        world.log.event("crashed", verb=verb, cause=repr(err), where=f"{where.filename}:{where.lineno}")
        if verb == "close":  # the gate never lifts a drain with Slurm's own reason
            node, reason = world.env["SLURMD_NODENAME"], f"not proven empty, the gate failed with {err!r}"
            _drain(world, node, reason)
        code = 1
    if verb in ALONE and not world.log.counted:
        return code  # the timer runs every 30 s: only events are worth a disk write
    try:
        metrics.add(world, verb, code, world.clock.now() - begun)
    except OSError as err:
        world.log.event("not counted", cause=str(err))
    return code


def _for_job(verb: str, world: World) -> int:
    """Run a verb that one of Slurm's scripts calls. Raises NotGated."""
    number = int(world.env["SLURM_JOB_ID"])
    try:
        try:
            job = Job.of(world.env, world.config, _noted(verb, number, world))
        except NotGated:
            if verb != "deliver_token":
                raise
            require_empty(world, EMPTY_S)
            return 0
        except Refused as err:
            if verb == "deliver_token":
                raise Unopened(str(err)) from err
            if verb != "open":
                return 0  # such a job never opened a node
            raise
        VERBS[verb](job, world)
    except Unopened as err:
        return _not_here(number, str(err), world)
    except (Refused, Unreachable) as err:
        return fail(verb, number, err, world)
    return 0


def _not_here(number: int, cause: str, world: World) -> int:
    """Slurm drains a node whose Prolog fails. This node is in order, so end the job instead."""
    world.log.event("refused", verb="deliver_token", job=number, cause=cause)
    try:
        leave(number, cause, world)
    except Refused as err:
        world.log.event("not ended", job=number, cause=str(err))
        return 1
    return 0


def _noted(verb: str, number: int, world: World) -> str:
    """The namespace in which the job was opened, if the moment of opening noted it; "" for what the account says.

    On a node an account that its configuration lacks may be a project's. Raises Unopened.
    """
    if verb == "end":
        return str(world.notes.read(f"run-{number}").get("namespace", ""))
    if verb == "deliver_token":
        env, config = world.env, world.config
        known = env.get("SLURM_JOB_ACCOUNT", "") in config.namespaces
        return "" if known or env.get("SLURM_JOB_PARTITION") not in config.partitions else namespace_here(number, world)
    return str(tokens.note(number, world).get("namespace", "")) if verb == "close" else ""


def fail(verb: str, number: int, err: Exception, world: World) -> int:
    """Write the cause into the job's AdminComment, drain reasons and the log."""
    world.log.event("refused", verb=verb, job=number, cause=str(err))
    for node, reason in getattr(err, "drain", {}).items():
        _drain(world, node, reason)
    if verb == "open":
        _if_slurm_answers(world, lambda: _not_opened(number, str(err), world))
    else:
        world.comment_job(number, str(err), run=int(world.env.get("SLURM_JOB_RESTART_COUNT") or 0))
    return 1


def _not_opened(number: int, cause: str, world: World) -> None:
    """Slurm requeues the job. A job that cannot be requeued ends with the cause; after too many tries it is held."""
    info, tries = world.slurm.job(number), world.config.tries
    this = retry.count(world.slurm.comment(number), info.restarts)
    verdict = retry.verdict(info, this, tries)
    world.comment_job(number, retry.explain(cause, this, tries, info.restarts))
    world.log.event(f"open failed, {verdict}", job=number, tries=this)
    if verdict == retry.HOLD:
        world.slurm.hold(number)
    if verdict == retry.END:
        world.slurm.notify(number, f"drawbridge gate: {cause}")


def _drain(world: World, node: str, reason: str) -> None:
    """Slurm reports a failed script only once, and the gate lifts only drains with its own reason: so try again."""
    for pause_s in DRAIN_AGAIN_S:
        try:
            return world.slurm.drain(node, reason)
        except NoAnswer:
            world.clock.sleep(pause_s)
    return _if_slurm_answers(world, lambda: world.slurm.drain(node, reason))


def _if_slurm_answers(world: World, command: Callable[[], None]) -> None:
    try:
        command()
    except NoAnswer as err:
        world.log.event("no answer from Slurm", cause=str(err))


def open_nodes(job: Job, world: World) -> None:
    """PrologSlurmctld."""
    require_whole_nodes(world.env, job, world.config)
    with world.notes.locked(job.owner.job):
        open_job(job, world)


def end_job(job: Job, world: World) -> None:
    """EpilogSlurmctld. A late one, after the job's next run has begun, must not end that run."""
    with world.notes.locked(job.owner.job):
        if world.notes.read(f"run-{job.owner.job}").get("started", 0) > job.started > 0:
            world.log.event("too late", verb="end", job=job.owner.job)
            return
        api = world.api(RECONCILER, world.config.patience_s)
        close_job(job.owner, [job.account], job.nodes, api, world.log)
        world.notes.forget(f"run-{job.owner.job}")


def deliver_token(job: Job, world: World) -> None:
    """Prolog of a node. A job runs without its token, too. Raises Refused if the node is not empty, Unopened."""
    require_alone(job, world, EMPTY_S)
    node = require_open(job, world)
    try:
        tokens.deliver(job, world, node.api, node.groups)
    except Exception as err:
        world.log.event("token not delivered", job=job.owner.job, cause=str(err))


def close_this_node(job: Job, world: World) -> None:
    """Epilog of a node. A late one, after the job's next run has begun here, must not end that run."""
    node = world.env["SLURMD_NODENAME"]
    with world.notes.locked(NODE_LOCK):
        if tokens.note(job.owner.job, world).get("started", 0) > job.started > 0:
            world.log.event("too late", verb="close", job=job.owner.job)
            return
        tokens.remove(job.owner.job, world)
        api = world.api(NODE, world.config.patience_s + world.config.empty_s)
        try:
            close_node(job.owner, node, world, api, world.config.empty_s)
        except Unreachable as err:
            raise not_empty(node, str(err)) from err
        tokens.forget(job.owner.job, world)


def reconcile(world: World) -> int:
    """Renew the tokens of this host; do what prologs and epilogs should have done and did not."""
    gauges: dict[str, float] = {}
    try:
        done = list(_repairs(world, gauges))
        if all(done):
            gauges["reconciled_timestamp_seconds"] = world.clock.wall()
    finally:
        # also after a crash: its alert needs the count, and the next run may crash too
        metrics.publish(world, gauges)
    return 0 if all(done) else 1


def _repairs(world: World, gauges: dict[str, float]) -> Iterator[bool]:
    """Whether each part of a reconciliation came to its end."""
    for identity in (OPENER, RECONCILER, HEALTH, NODE):
        file = world.token(identity)
        if not file.exists():
            continue
        api = world.api(identity, RECONCILE_S)
        yield tokens.renew(file, world, api)
        if identity == RECONCILER:
            yield _attempt(world, lambda api=api: repair_cluster(world, api))
            yield _attempt(world, lambda api=api: end_unopened(world, api))
        if identity == NODE:
            yield tokens.renew_jobs(world, api)
            yield _attempt(world, lambda api=api: _reconcile_node(_this_node(world), world, api, gauges))
    # last, because what waits for repair must not wait for a report
    if world.token(OPENER).exists():
        api = world.api(OPENER, RECONCILE_S)
        yield _attempt(world, lambda: _compare_guards(world, api, gauges))


def boot(world: World) -> int:
    """Before slurmd starts: take the node from a job that held it before the boot.

    If only slurmd restarts, do nothing: waiting for a running epilog's lock would exceed systemd's time limit.
    """
    try:
        node = _this_node(world)
        if booted(world):
            with world.notes.locked(NODE_LOCK):
                boot_node(node, world, world.api(NODE, RECONCILE_S))
    except (OSError, Refused, Unreachable) as err:
        world.log.event("not repaired", cause=str(err))
        return 1
    return 0


def _this_node(world: World) -> str:
    return tokens.subject(world.token(NODE).read_text()).rpartition(":")[2]


def _reconcile_node(node: str, world: World, api: Api, gauges: dict[str, float]) -> bool:
    with world.notes.locked(NODE_LOCK, wait=False) as free:
        if free:
            value = taint(node, api)
            gauges.update({f'node_state{{state="{name}"}}': float(name == state(value)) for name in STATES})
            repair_node(node, value, world, api)
            if state(value) == "held":  # the node was closed before it was held
                tokens.tidy(node, world)
    return True


def _compare_guards(world: World, api: Api, gauges: dict[str, float]) -> bool:
    """Report changed or missing admission policies before a job meets them: the opener refuses all jobs then."""
    try:
        compare_guards(api, world.guards())
    except Refused as err:
        gauges["policies_in_force"] = 0
        world.log.event("policies changed", cause=str(err))
    else:
        gauges["policies_in_force"] = 1
    return True


def _attempt(world: World, repair: Callable[[], bool]) -> bool:
    """Run one repair; the timer tries again. Drain reasons show what a person must do; the rest is logged."""
    try:
        return repair()
    except Refused as err:
        for node, reason in err.drain.items():
            _drain(world, node, reason)
        world.log.event("not repaired", cause=str(err))
    except (NoAnswer, Unreachable) as err:
        world.log.event("not repaired", cause=str(err))
    return False


ON_NODE = ("deliver_token", "close")
ALONE = {"reconcile": reconcile, "boot": boot}
VERBS = {"open": open_nodes, "end": end_job, "deliver_token": deliver_token, "close": close_this_node}
