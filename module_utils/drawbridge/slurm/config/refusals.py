# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lua scripts with which Slurm refuses some jobs of gated partitions at submission.

A component of a heterogeneous job has its own job id, so one pod's nodes would have two owners. A job that goes on
after it lost a node leaves its other pods waiting for that node.
"""

from __future__ import annotations

from ..model import Slurm

HEADER = "-- Managed by Drawbridge: change the inventory, not this file."

_GATED = """\
local gated = {{ {gated} }}

local function first_gated(partitions)
   for name in string.gmatch(partitions or "{default}", "[^,]+") do
      if gated[name] then
         return name
      end
   end
end
"""

_JOB_SUBMIT = """
local function refuse_heterogeneous(partitions, offset)
   local name = first_gated(partitions)
   if name == nil or offset == nil or offset == slurm.NO_VAL then
      return slurm.SUCCESS
   end
   slurm.log_user("partition " .. name .. " is gated, but heterogeneous jobs have one job id for each component and "
      .. "pods of a job need one owner; submit one job, or use a partition without a gate")
   return slurm.ERROR
end

function slurm_job_submit(job, partitions, uid)
   return refuse_heterogeneous(job.partition, job.het_job_offset)
end

function slurm_job_modify(change, job, partitions, uid)
   if change.partition == nil or job.het_job_id == nil or job.het_job_id == 0 then
      return slurm.SUCCESS
   end
   return refuse_heterogeneous(change.partition, 0)
end

return slurm.SUCCESS
"""

_CLI_FILTER = """
function slurm_cli_setup_defaults(options, early)
   return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, offset)
   local name = first_gated(options["partition"])
   if name == nil or options["no-kill"] == nil or options["no-kill"] == "unset" then
      return slurm.SUCCESS
   end
   slurm.log_error("partition " .. name .. " is gated, but a job with --no-kill goes on after it has lost a node, and "
      .. "its pods would wait for that one; leave --no-kill out, or use a partition without a gate")
   return slurm.ERROR
end

function slurm_cli_post_submit(offset, job, step)
   return slurm.SUCCESS
end
"""


def refusals(slurm: Slurm) -> dict[str, str]:
    """Names and contents of the scripts; none without a gated partition."""
    names = [partition.name for partition in slurm.partitions if partition.gate]
    if not names:
        return {}
    defaults = [partition.name for partition in slurm.partitions if partition.default]
    gated = _GATED.format(gated=", ".join(f'["{name}"] = true' for name in names), default="".join(defaults))
    return {
        "cli_filter.lua": f"{HEADER}\n{gated}{_CLI_FILTER}",
        "job_submit.lua": f"{HEADER}\n{gated}{_JOB_SUBMIT}",
    }


def plugins(slurm: Slurm) -> dict[str, object]:
    """Their settings in slurm.conf; slurmctld does not start if a script is missing."""
    scripts = refusals(slurm)
    return {"CliFilterPlugins": "lua", "JobSubmitPlugins": "lua"} if scripts else {}
