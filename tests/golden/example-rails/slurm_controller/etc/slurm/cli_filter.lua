-- Managed by Drawbridge: change the inventory, not this file.
local gated = { ["ai-train"] = true, ["ai-infer"] = true }

local function first_gated(partitions)
   for name in string.gmatch(partitions or "ai-train", "[^,]+") do
      if gated[name] then
         return name
      end
   end
end

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
