# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The slurm.conf of a trial slurmctld, and the errors in its log."""

from __future__ import annotations

import re
from collections.abc import Mapping

LEFT_OUT = {
    *("AccountingStorageEnforce", "AccountingStorageHost", "AccountingStorageTRES", "AccountingStorageType"),
    *("EpilogSlurmctld", "JobCompType", "PriorityWeightTRES", "PrologSlurmctld", "ResumeFailProgram", "ResumeProgram"),
    *("SlurmctldHost", "SlurmctldLogFile", "SlurmctldPrimaryOffProg", "SlurmctldPrimaryOnProg", "SuspendProgram"),
    *("CommunicationParameters", "SlurmctldDebug", "SlurmctldPidFile", "SlurmctldSyslogDebug", "StateSaveLocation"),
}
"""Keys that would reach the accounting database, run programs, or write or listen where the real slurmctld does."""

_KEY = re.compile(r"\s*([A-Za-z]+)\s*=")
_WEIGHTS = re.compile(r"\s+TRESBillingWeights=(\"[^\"]*\"|\S+)", re.IGNORECASE)
_SERVES = "Running as primary controller"
_FATAL = re.compile(r"\bfatal: (.*)")
_IGNORED = re.compile(
    r"\b(?:error|warning): (.*(?:lookup failure for|\b[Bb]ad |\b[Ii]nvalid |specified more than once"
    r"|match no Sockets|Multiple leaf switches|unrecognized|is not a valid|job_submit/lua: ).*)"
)
JOB_SUBMIT, CLI_FILTER = "job_submit.lua", "cli_filter.lua"
_PLUGINS = re.compile(r"^JobSubmitPlugins=(.*)$", re.MULTILINE)
_EMPTY = """
function slurm_job_submit(job, partitions, uid) return slurm.SUCCESS end
function slurm_job_modify(change, job, partitions, uid) return slurm.SUCCESS end
return slurm.SUCCESS
"""
_NOISE = "MailProg is invalid"
SENTENCES = 3  # the first ones name the cause


def trial_conf(text: str, scratch: str, host: str, address: str) -> str:
    """The slurm.conf `text`, changed for a slurmctld on `host` that shares nothing with the real one.

    Weights of TRES are left out: only the accounting database has the names of GPUs.
    """
    lines = [_WEIGHTS.sub("", line) for line in text.splitlines() if not _is(line, LEFT_OUT)]
    own: Mapping[str, str] = {
        "SlurmctldHost": f"{host}({address})",
        "SlurmctldDebug": "info",
        "SlurmctldPidFile": f"{scratch}/pid",
        "StateSaveLocation": f"{scratch}/state",
    }
    return "".join(f"{line}\n" for line in [*lines, *(f"{key}={value}" for key, value in own.items())])


def with_cli_filter(conf: str, script: str, scratch: str) -> tuple[str, str]:
    """slurm.conf and job_submit.lua of a trial that also loads cli_filter.lua.

    Only client commands load that file. An error in it would end them all, so the trial's own Lua loads it first.
    """
    load = f'assert(loadfile("{scratch}/{CLI_FILTER}"))() '
    found = _PLUGINS.search(conf)
    if found and "lua" in found[1].split(","):
        return conf, f"{load}{script}"
    plugins = f"{found[1]},lua" if found else "lua"
    return f"{_PLUGINS.sub('', conf)}JobSubmitPlugins={plugins}\n", f"{load}{_EMPTY}"


def decided(log: str) -> bool:
    """Whether the log shows that slurmctld serves, or why it does not."""
    return _SERVES in log or bool(_FATAL.search(log))


def complaints(log: str) -> str:
    """slurmctld's errors about the files in one line; empty for none."""
    found = [match.group(1) for match in _IGNORED.finditer(log) if _NOISE not in match.group(1)]
    found += [match.group(1) for match in _FATAL.finditer(log)]
    if not found and _SERVES not in log:
        found = [f"no verdict, and last: {(log.strip() or 'nothing').splitlines()[-1]}"]
    return "; ".join(list(dict.fromkeys(found))[:SENTENCES])


def _is(line: str, keys: set[str]) -> bool:
    match = _KEY.match(line)
    return bool(match) and match.group(1).lower() in {key.lower() for key in keys}
