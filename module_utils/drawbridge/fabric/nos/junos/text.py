# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Juniper Junos: the statements of the lossless class, the answers to show commands, and confirmed commits.

Drawbridge owns its forwarding classes, classifier, drop profile, schedulers, scheduler map and congestion notification
profile, all named ROCE. On the intent's ports it owns the MTU, what binds these objects, and statements that would
overrule them. With `ecmp` it owns statements that take fields of RoCE from the hash. The division of the buffer, cable
lengths, rewrite rules and all else belong to the site.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...model import SwitchProfile
from ...plan import PORT, Config, Lines
from ...strategy import Timer, always, no_text
from ..dialect import SESSION_PREFIX, Dialect, DialectError
from .buffers import percent, queue_bytes
from .capabilities import CAPABILITIES, CONTROL_PERCENT
from .checks import applied_to, unfit, unproven, waiting
from .commands import commands, on_ports, stops
from .lines import (
    CNP,
    CONTROL,
    COS,
    ECN,
    HASH,
    MARKS,
    NAME,
    PAUSE,
    REST,
    SHARES,
    STORAGE,
    Statements,
    classes,
    queue,
    sections_of,
)
from .state import reads

MINUTE = 60


def render(profile: SwitchProfile) -> Config:
    """The wanted state. Other traffic shares what the classes and control traffic leave."""
    lines = {
        **{f"forwarding class {name}": () for name in (NAME, CNP, STORAGE)},
        **{f"forwarding class {name}": tuple(_class(name, profile)) for name in classes(profile)},
        MARKS: tuple(_marks(profile)),
        ECN: tuple(_thresholds(profile)),
        SHARES: tuple(_schedulers(profile)),
        PAUSE: tuple(_pauses(profile)),
    }
    on_port = sorted(
        (
            f"   {COS} congestion-notification-profile {NAME}",
            f"   {COS} scheduler-map {NAME}",
            f"   {COS} unit * classifiers dscp {NAME}",
            f"   mtu {profile.mtu_bytes}",
        )
    )
    ports = {f"{PORT}{port}": (f"{PORT}{port}", *on_port) for port in profile.ports}
    ordered = {name: part if name == ECN else tuple(sorted(part)) for name, part in lines.items()}
    return Config(tuple({**ordered, **({HASH: ()} if profile.ecmp else {}), **ports}.items()))


def _class(name: str, profile: SwitchProfile) -> Iterator[str]:
    path, priority = f"{COS} forwarding-classes class {name}", classes(profile)[name].priority
    yield f"{path} queue-num {queue(name, profile)}"
    if name != CNP and priority in profile.lossless:
        yield from (f"{path} no-loss", f"{path} pfc-priority {priority}")


def _marks(profile: SwitchProfile) -> Iterator[str]:
    path = f"{COS} classifiers dscp {NAME}"
    yield f"{path} import default"  # other DSCPs keep the class that Junos gives them
    for name, part in classes(profile).items():
        yield f"{path} forwarding-class {name} loss-priority low code-points {part.dscp:06b}"


def _thresholds(profile: SwitchProfile) -> Iterator[str]:
    roce, path = profile.roce, f"{COS} drop-profiles {NAME} interpolate"
    buffer = queue_bytes(profile.asic, profile.queue_buffer_bytes)
    levels = [percent(it, buffer) for it in (roce.ecn_min_bytes, roce.ecn_max_bytes)]
    yield from (f"{path} drop-probability {chance}" for chance in (0, roce.ecn_probability_percent))
    yield from (f"{path} fill-level {level}" for level in levels)


def _schedulers(profile: SwitchProfile) -> Iterator[str]:
    roce, storage = profile.roce, profile.storage
    rest = 100 - CONTROL_PERCENT - roce.bandwidth_percent - (storage.bandwidth_percent if storage else 0)
    shares = {NAME: roce.bandwidth_percent, REST: rest, CONTROL: CONTROL_PERCENT}
    shares |= {STORAGE: storage.bandwidth_percent} if storage else {}
    marked = [NAME, *([STORAGE] if storage and storage.lossless else [])]
    for name, share in shares.items():
        yield f"{COS} schedulers {name} transmit-rate percent {share}"
    for name in marked:
        yield f"{COS} schedulers {name} explicit-congestion-notification"
        yield f"{COS} schedulers {name} drop-profile-map loss-priority any protocol any drop-profile {NAME}"
    yield f"{COS} schedulers {CNP} priority strict-high"
    users = {"best-effort": REST, "network-control": CONTROL, **{name: name for name in classes(profile)}}
    for name, scheduler in users.items():
        yield f"{COS} scheduler-maps {NAME} forwarding-class {name} scheduler {scheduler}"


def _pauses(profile: SwitchProfile) -> Iterator[str]:
    path, watchdog = f"{COS} congestion-notification-profile {NAME}", profile.watchdog
    yield f"{path} pfc-watchdog poll-interval {watchdog.poll_ms}"
    yield f"{path} pfc-watchdog detection {watchdog.detect_ms // watchdog.poll_ms}"
    yield f"{path} pfc-watchdog recovery {watchdog.restore_ms}"
    yield f"{path} pfc-watchdog watchdog-action {watchdog.action}"
    for name, part in classes(profile).items():
        if name != CNP and part.priority in profile.lossless:
            yield f"{path} input dscp code-point {part.dscp:06b} pfc"
            yield f"{path} output ieee-802.1 code-point {part.priority:03b} flow-control-queue {queue(name, profile)}"


def parse(answers: Sequence[str], profile: SwitchProfile) -> Config:
    """Project the answers onto the owned lines. Raises DialectError for what a change can't repair."""
    config, applied = Statements.of(answers[0]), applied_to(answers[2])
    for why in unfit(config, applied, profile):
        raise DialectError(why)
    user, session = waiting(answers[1])
    ours = session.startswith(SESSION_PREFIX)
    return Config(
        sections=sections_of(config, profile),
        waiting=session if ours else "",
        foreign=() if ours or not user else (f"{session or 'commit'} ({user})",),
        unproven=tuple(unproven(applied, profile)),
    )


def _change(name: str, seconds: int, lines: Lines, _own: None) -> Lines:
    """Lock the candidate, which drops it with the connection. Then look once more whether another user's commit waits,
    since this one would keep it. That answer counts as a refusal."""
    return (
        "configure exclusive",
        "run show system commit | display xml | match commit-confirmed",
        *lines,
        f"commit confirmed {seconds // MINUTE} comment {name}",
    )


DIALECT = Dialect(
    device_type="juniper_junos",
    prompt=r"[>#]",
    opening=(),
    enables=False,
    refusal=r"^\s*(?:error:|syntax error|unknown command|invalid |missing |<commit-confirmed>).*",
    slow="commit|rollback",
    reads=(
        "show configuration | display inheritance | display set",
        "show system commit",
        f"show {COS} interface",
    ),
    parse=parse,
    render=render,
    state_reads=reads,
    releases=CAPABILITIES.releases,
    commands=commands,
    stops=stops,
    on_ports=on_ports,
    save="",  # a commit is also what a restart brings back
    strategy=always(
        Timer(
            change=_change,
            confirm=lambda _: "configure exclusive\ncommit\nexit",
            abort=no_text,  # the connection's end has dropped the candidate
            roll_back=lambda _: "configure exclusive\nrollback 1\ncommit\nexit",
            unit_s=MINUTE,
        )
    ),
)
