# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm accounting: quality of service, accounts, shares and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Optional

from ...core.options import LABEL, PATH, Shape, option, or_word

ACCOUNT = Shape(
    r"[a-z0-9_][a-z0-9_.-]{0,62}",
    "a name as slurmdbd stores it",
    "at most 63 small letters, digits, dots, dashes and underscores, such as vision",
)
"""Name of an account or a QOS: slurmdbd silently stores capitals as small letters."""
USER = Shape(
    r"(?!site$)(?![0-9]+$)[a-z0-9_][a-z0-9_.@-]{0,254}",
    "a login name",
    "small letters, digits, dots, dashes, underscores and @, such as ada, and not site or a number",
)
"""A login name. A number alone would be read as a uid, and `site` is a word of the intent."""
HOST = Shape(
    r"[A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?",
    "the name or address of a host",
    "letters, digits, dots, dashes and colons, such as db1.example.org or 10.0.0.5",
)
"""Name or address of a host."""
ONE_LINE = Shape(
    r"[^\s\"#\\]([^\n\r\"#\\]*[^\s\"#\\])?",
    "one line of text that Slurm reads as it stands",
    "a text without quotes, backslashes, # and line breaks, such as 600",
)
"""A value in one line of a file of Slurm's."""
DB_USER = Shape(
    r"[A-Za-z0-9_.-]{1,80}",
    "the name of a user of the database",
    "at most 80 letters, digits, dots, dashes and underscores, such as slurm",
)
DB_NAME = Shape(
    r"[A-Za-z0-9_]{1,64}",
    "the name of a database",
    "at most 64 letters, digits and underscores, such as slurm_acct_db",
)
NORMAL = "normal"
"""The QOS that each cluster has."""
SITE = ("site",)
"""`users: site`, instead of a list."""
NO_MOUNTS = ("none",)
"""`mounts: none`, instead of a list."""
GROUP = Shape(
    r"[A-Za-z_][A-Za-z0-9_.@-]{0,254}",
    "the name of a group of people",
    "letters, digits, dots, dashes, underscores and @, as `getent group` prints it, such as vision",
)
DATE = Shape(r"20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", "a date", "year, month and day: 2027-03-31")
FACTOR = Shape(
    r"(0|[1-9][0-9]{0,3})(\.[0-9]{1,6})?",
    "a factor",
    "a number in quotes, at most 9999, with at most six decimals, such as '0.5'",
)
"""slurmdbd keeps more decimals, but lists six."""
FLAGS = (
    *("DenyOnLimit", "EnforceUsageThreshold", "NoDecay", "NoReserve", "OverPartQOS"),
    *("PartitionMaxNodes", "PartitionMinNodes", "PartitionTimeLimit", "RequiresReservation", "UsageFactorSafe"),
)
"""Flags of all releases from 23.11 to 26.05 but one: with Relative, Slurm reads limits as percent of the cluster."""
NO_DECAY = "NoDecay"
PERIODS = ("none", "month", "quarter", "year")
_TIME = r"[0-9]+|[0-9]+:[0-5][0-9]:[0-5][0-9]|[0-9]+-[0-9]{1,2}(:[0-5][0-9]){0,2}"
_FORMS = "minutes such as 240, or 4:00:00 for hours, or 1-12 for days and hours (Slurm reads 4:00 as four minutes)"
TIME = Shape(_TIME, "a time of one meaning", _FORMS)
LIMIT = Shape(f"UNLIMITED|{_TIME}", TIME.what, f"UNLIMITED, or {_FORMS}")


@dataclass(frozen=True)
class Amount:
    """A limit of the resources that jobs use."""

    cpus: int = option("hardware threads; -1: no limit", -1, low=-1)
    memory_mib: int = option("memory; -1: no limit", -1, low=-1)
    gpus: int = option("GPUs of any type; -1: no limit", -1, low=-1)
    nodes: int = option("nodes; -1: no limit", -1, low=-1)


@dataclass(frozen=True)
class Budget:
    """What the jobs of a QOS may use in a period (GrpTRESMins).

    AccountingStorageEnforce has `safe`, so a job starts only if its whole time limit fits into the rest. Each cluster
    counts for itself.
    """

    gpu_hours: int = option("hours of GPUs of any type; -1: no limit", -1, low=-1, high=10**9)
    cpu_hours: int = option("hours of hardware threads; -1: no limit", -1, low=-1, high=10**9)
    node_hours: int = option("hours of nodes; -1: no limit", -1, low=-1, high=10**9)
    period: str = option(
        "when use counts from 0 again: at the first day of each month, quarter or year; none: never",
        "none",
        choices=PERIODS,
    )

    @property
    def limits(self) -> bool:
        """Whether it limits anything."""
        return max(self.gpu_hours, self.cpu_hours, self.node_hours) >= 0


@dataclass(frozen=True)
class Qos:
    """A quality of service: its priority, the QOS that it preempts, and its limits."""

    name: str = option("name of the QOS, in small letters; Slurm itself creates normal", pattern=ACCOUNT)
    priority: int = option("its weight among all QOS", 0, low=0, high=1000000)
    preempt: tuple[str, ...] = option("QOS whose jobs it preempts", (), pattern=ACCOUNT)
    preempt_mode: str = option(
        "how its own jobs are preempted; cluster: preempt_mode of the cluster",
        "cluster",
        choices=("cluster", "requeue", "cancel"),
    )
    total: Amount = option("limit of all its running jobs together", Amount())
    per_user: Amount = option("limit of one user's running jobs together", Amount())
    per_job: Amount = option("limit of one job", Amount())
    jobs_per_user: int = option("running jobs of one user; -1: no limit", -1, low=-1)
    submits_per_user: int = option("running and waiting jobs of one user; -1: no limit", -1, low=-1)
    max_time: str = option(
        "longest time limit of a job: minutes, h:mm:ss or days-hours (empty: the partition's)",
        "",
        pattern=TIME,
    )
    flags: tuple[str, ...] = option(
        "flags of sacctmgr, such as DenyOnLimit: a job that its limits forbid is refused, not queued", (), choices=FLAGS
    )
    budget: Optional[Budget] = option("what its jobs may use in a period; the QOS then has the flag NoDecay too", None)
    grace_time_s: int = option("time that a preempted job has to end, in seconds", 0, low=0, high=604800)
    usage_factor: str = option(
        "how much of its jobs' use counts, for budgets and fair share, such as '0.5' (empty: all of it)",
        "",
        pattern=FACTOR,
    )

    @property
    def extended(self) -> bool:
        """Whether it sets one of the keys that Slurm has beside priority, preemption and limits."""
        return bool(self.flags or self.budget or self.grace_time_s or self.usage_factor)


@dataclass(frozen=True)
class Account:
    """A Slurm account, its share of the cluster, and the Kubernetes namespace that its jobs use."""

    name: str = option("name of the account, in small letters as Slurm stores it", pattern=ACCOUNT)
    namespace: str = option("namespace of its pods; at most 46 characters", "", pattern=LABEL)
    mounts: tuple[str, ...] = or_word(
        option(
            "folders on shared file systems that its pods see, or the word none; empty: all file systems",
            (),
            pattern=PATH,
        ),
        *NO_MOUNTS,
    )
    users: tuple[str, ...] = or_word(
        option("login names, or the word site (then the site's own tools keep its users)", (), pattern=USER), *SITE
    )
    parent: str = option("its parent account", "root", pattern=ACCOUNT)
    fair_share: int = option("its share among the accounts of the same parent", 1, low=0, high=1000000)
    qos: tuple[str, ...] = option(
        "QOS that its jobs may use; empty: the parent's, at the top normal", (), pattern=ACCOUNT
    )
    default_qos: str = option("QOS of jobs that name none (empty: the parent's)", "", pattern=ACCOUNT)
    total: Amount = option("limit of all its running jobs together", Amount())
    per_job: Amount = option("limit of one job", Amount())
    jobs: int = option("running jobs; -1: no limit", -1, low=-1)
    submits: int = option("running and waiting jobs; -1: no limit", -1, low=-1)
    max_time: str = option("longest time limit of a job; empty: the parent's", "", pattern=TIME)
    groups: tuple[str, ...] = option(
        "groups of the controller's operating system (getent group) whose members may charge it too", (), pattern=GROUP
    )
    ends: str = option(
        "last day on which jobs may be submitted, such as 2027-03-31; jobs that run go on (empty: none)",
        "",
        pattern=DATE,
    )
    closed: bool = option("true: no job may be submitted; jobs that wait or run go on", False)


@dataclass(frozen=True)
class Absent:
    """Accounts and QOS to delete. Others that the intent does not declare are left alone."""

    accounts: tuple[str, ...] = option("accounts to delete from the cluster, with their users", (), pattern=ACCOUNT)
    qos: tuple[str, ...] = option("qualities of service to delete", (), pattern=ACCOUNT)


@dataclass(frozen=True)
class Database:
    """The accounting database."""

    server: str = option(
        "drawbridge: MariaDB on slurmdbd's host, without a password; site: an existing server, which has the database",
        "drawbridge",
        choices=("drawbridge", "site"),
    )
    host: str = option("existing server: its name or address (StorageHost)", "localhost", pattern=HOST)
    port: int = option("existing server: its port (StoragePort)", 3306, low=1, high=65535)
    user: str = option("existing server: the user of slurmdbd (StorageUser)", "slurm", pattern=DB_USER)
    name: str = option("name of the database (StorageLoc)", "slurm_acct_db", pattern=DB_NAME)


@dataclass(frozen=True)
class Storage:
    """slurmdbd and its database."""

    slurmdbd: str = option(
        "drawbridge: it runs slurmdbd; site: an existing slurmdbd, which other clusters may use too",
        "drawbridge",
        choices=("drawbridge", "site"),
    )
    host: str = option("host of slurmdbd (empty: the controller)", "", pattern=HOST)
    port: int = option("its port (DbdPort)", 6819, low=1, high=65535)
    database: Database = option("its database", Database())
    settings: Mapping[str, str] = option(
        "the site's own lines of slurmdbd.conf, such as PurgeStepAfter: 12month", MappingProxyType({}), pattern=ONE_LINE
    )
