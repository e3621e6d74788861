# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""drawbridge-run doctor: why a job or its pods wait, or how they ended, for the job's user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date

from ..budget import usage, words
from ..gate.api import Unreachable
from ..gate.config import Refused
from ..gate.gate_names import JOB_LABEL
from ..gate.slurm import GONE, JobInfo, NoAnswer, Slurm
from ..gate.states import PODS
from . import events, pods
from .context import Context
from .options import parse
from .site import Grant, Site

REASONS = {
    "Resources": "it is next, and waits for free nodes",
    "Priority": "other jobs have higher priority: sprio -j {job} shows the parts of its priority",
    "BeginTime": "Slurm starts it again at its begin time: squeue --start -j {job}",
    "Dependency": "it waits for another job: scontrol show job {job} names it",
    "JobHeldUser": "you hold it: scontrol release {job}",
    "JobHeldAdmin": "it is held: ask the administrators for scontrol release {job}",
    "JobHoldMaxRequeue": "it has failed to start too often: ask the administrators",
    "PartitionTimeLimit": "it requests more time than its partition allows: scontrol show partition",
    "ReqNodeNotAvail": "nodes that it needs are drained or reserved: sinfo -R",
    **words.REASONS,
}
LIMITS = "a limit of your account or QOS is used up: sacctmgr show assoc user=$USER, sacctmgr show qos"
ELSEWHERE = (
    "pods are visible on the job's nodes only: srun --jobid={job} --overlap --nodes=1 --ntasks=1 drawbridge-run doctor"
)


def examine(argv: Sequence[str], context: Context) -> int:
    """Print a report about a job. Raises Refused."""
    named = argv[0] if argv else context.env.get("SLURM_JOB_ID", "")
    if named in ("-h", "--help"):
        parse(["--help"])
    if re.fullmatch(r"[0-9]+_[0-9]+", named):
        named = _element(named, context)
    if not named.isdecimal():
        raise Refused("name a job: drawbridge-run doctor JOB; squeue --me lists yours")
    for line in report(int(named), context):
        context.console.print(line)
    return 0


def _element(named: str, context: Context) -> str:
    result = context.commands.run("squeue", "--noheader", "--states=all", f"--jobs={named}", "--format=%A").out.strip()
    if not result:
        raise Refused(f"Slurm has no job {named} (any more): sacct -j {named} shows how it ended")
    return result


def report(job: int, context: Context) -> Iterator[str]:
    """All lines about a job. Raises Refused."""
    site, slurm = Site.read(context.site), Slurm(context.commands)
    try:
        info, comment = slurm.job(job), ""
        if info.state != GONE:
            comment = slurm.comment(job)
    except NoAnswer as err:
        raise Refused(f"Slurm does not answer ({err}): try again in a minute") from err
    if info.state == GONE:
        yield f"Slurm has no job {job} any more: sacct -j {job} shows how it ended"
        return
    yield f"job {job} is {info.state}{f' ({info.reason})' if info.reason not in ('', 'None') else ''}"
    if comment:
        yield f"AdminComment: {comment}"
    if info.state == "PENDING":
        yield _budget(job, info, site, context) or waits(job, info)
    yield from _place(job, site, context)
    if info.running:
        yield from _pods(job, info, context)


def _budget(job: int, info: JobInfo, site: Site, context: Context) -> str:
    """The sentence of a job that waits for the budget of its QOS; "" for other reasons."""
    if info.reason not in words.RESOURCES:
        return ""
    qos = context.commands.run("squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%q").out
    name = qos.strip().partition("\n")[0]  # elements of an array are alike
    shown = usage.parsed(context.commands.run(*usage.command([name])).out)
    return words.waits(info.reason, name, shown.get(name), words.period(site.budgets, name), date.today())


def waits(job: int, info: JobInfo) -> str:
    """A waiting job's reason as a sentence."""
    if info.reason.startswith(("Assoc", "QOS")) and info.reason not in REASONS:
        return LIMITS
    return REASONS.get(info.reason, f"Slurm's reason is {info.reason}: man squeue explains it").format(job=job)


def _place(job: int, site: Site, context: Context) -> Iterator[str]:
    result = context.commands.run("squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%P|%a").out
    partition, _sep, account = result.strip().partition("\n")[0].partition("|")  # elements of an array are alike
    if partition and partition not in site.partitions:
        yield f"partition {partition} gives no nodes to Kubernetes; these do: {', '.join(site.partitions)}"
    elif account and account not in site.namespaces:
        known = ", ".join(sorted(site.namespaces))
        yield f"account {account} has no namespace in Kubernetes, unless it is a project; others that have one: {known}"


def _pods(job: int, info: JobInfo, context: Context) -> Iterator[str]:
    try:
        given = Grant.read(context.jobs / str(job))
        given.token.read_text()
    except FileNotFoundError:
        yield ELSEWHERE.format(job=job)
        return
    except PermissionError:
        yield "it is another user's job: you can't see its pods"
        return
    kube = context.kube(given)
    try:
        items = kube.items(PODS.format(given.namespace), labelSelector=f"{JOB_LABEL}={job}").get("items") or []
        if not items:
            yield "it has no pods: drawbridge-run has not been called yet, or has ended"
        for item in items:
            pod = pods.read(item, info.nodes)
            found = pods.trouble(pod, given.memory)
            yield found.text if found else f"{pod.label}: {pod.state}"
            if found or pod.state == pods.STARTING:
                for event in events.of(kube, given.namespace, pod.name)[-3:]:
                    yield f"  {event.get('reason')}: {event.get('message')}"
    except (Refused, Unreachable) as err:
        yield f"its pods can't be read: {err}"
