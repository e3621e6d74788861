# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lua scripts at submission: Drawbridge's refusals for gated partitions, and the site's own functions beside them.

A component of a heterogeneous job has its own job id, so one pod's nodes would have two owners. A job that goes on
after it lost a node leaves its other pods waiting for that node.

The site's text is part of the file, because nodes and login hosts fetch no other Lua file from the controller.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Lua, Slurm
from .text import LUA_HEADER

_GATED = """
local gated = {{ {gated} }}

local function first_gated(partitions)
   for name in string.gmatch(partitions or "{default}", "[^,]+") do
      if gated[name] then
         return name
      end
   end
end

local own = {{}}
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

function own.slurm_job_submit(job, partitions, uid)
   return refuse_heterogeneous(job.partition, job.het_job_offset)
end

function own.slurm_job_modify(change, job, partitions, uid)
   if change.partition == nil or job.het_job_id == nil or job.het_job_id == 0 then
      return slurm.SUCCESS
   end
   return refuse_heterogeneous(change.partition, 0)
end
"""

_CLI_FILTER = """
function own.slurm_cli_setup_defaults(options, early)
   return slurm.SUCCESS
end

function own.slurm_cli_pre_submit(options, offset)
   local name = first_gated(options["partition"])
   if name == nil or options["no-kill"] == nil or options["no-kill"] == "unset" then
      return slurm.SUCCESS
   end
   slurm.log_error("partition " .. name .. " is gated, but a job with --no-kill goes on after it has lost a node, and "
      .. "its pods would wait for that one; leave --no-kill out, or use a partition without a gate")
   return slurm.ERROR
end

function own.slurm_cli_post_submit(offset, job, step)
   return slurm.SUCCESS
end
"""

_SITE = """
-- The site's script reads all globals and keeps its own. Lua 5.1 has setfenv for that.
local function loaded(name, text, functions)
   local globals = setmetatable({}, { __index = _G })
   local chunk, err

   if setfenv then
      chunk, err = loadstring(text, "=" .. name)
      chunk = chunk and setfenv(chunk, globals)
   else
      chunk, err = load(text, "=" .. name, "t", globals)
   end

   local code = (chunk or error(err, 0))()
   if code ~= nil and code ~= slurm.SUCCESS then
      error(name .. " returned " .. tostring(code) .. " when it was loaded", 0)
   end

   for _, key in ipairs(functions) do
      if type(rawget(globals, key)) ~= "function" then
         error(name .. " has no function " .. key, 0)
      end
   end
   return globals
end
"""

_IN_TURN = """
-- One function that runs several, until one of them refuses.
local function in_turn(...)
   local steps = { ... }

   return function(...)
      for _, step in ipairs(steps) do
         local code = step(...)
         if code ~= nil and code ~= slurm.SUCCESS then
            return code
         end
      end
      return slurm.SUCCESS
   end
end
"""

FUNCTIONS = {
    "job_submit": ("slurm_job_submit", "slurm_job_modify"),
    "cli_filter": ("slurm_cli_setup_defaults", "slurm_cli_pre_submit", "slurm_cli_post_submit"),
}
"""Functions that Slurm demands of each script."""
PLUGINS = {"job_submit": "JobSubmitPlugins", "cli_filter": "CliFilterPlugins"}
_OWN = {"job_submit": _JOB_SUBMIT, "cli_filter": _CLI_FILTER}


def refusals(slurm: Slurm) -> dict[str, str]:
    """Names and contents of the scripts; none without a gated partition and without a script of the site."""
    gated = [partition.name for partition in slurm.partitions if partition.gate]
    defaults = [partition.name for partition in slurm.partitions if partition.default]
    own = _GATED.format(gated=", ".join(f'["{name}"] = true' for name in gated), default="".join(defaults))
    scripts = {"cli_filter": slurm.cli_filter, "job_submit": slurm.job_submit}
    return {
        f"{name}.lua": _script(name, f"{own}{_OWN[name]}" if gated else "", site)
        for name, site in scripts.items()
        if gated or site.script
    }


def _script(name: str, own: str, site: Lua) -> str:
    """The file. The functions of both in their order; after the site's, Drawbridge's run again on what it changed."""
    order = ["site", "own"] if site.order == "before" else ["own", "site", "own"]
    parts = [part for part in order if (own if part == "own" else site.script)]
    functions = FUNCTIONS[name]
    calls = [f"{it} = in_turn({', '.join(f'{part}.{it}' for part in parts)})\n" for it in functions]
    theirs = f"{_SITE}{_embedded(f'{name}.lua of the site', site.script, functions)}" if site.script else ""
    return "".join([f"{LUA_HEADER}\n", own, theirs, _IN_TURN, "\n", *calls, "\nreturn slurm.SUCCESS\n"])


def _embedded(name: str, text: str, functions: Sequence[str]) -> str:
    """The site's text between long brackets that it does not contain. Lua ignores the first line break."""
    level = next("=" * number for number in range(1, len(text) + 2) if f"]{'=' * number}]" not in f"{text}]")
    names = ", ".join(f'"{it}"' for it in functions)
    return f'\nlocal site = loaded("{name}", [{level}[\n{text}]{level}], {{ {names} }})\n'


def plugins(slurm: Slurm) -> dict[str, object]:
    """Their settings in slurm.conf; slurmctld does not start if a script is missing."""
    scripts = refusals(slurm)
    return {key: "lua" for name, key in sorted(PLUGINS.items()) if f"{name}.lua" in scripts}
