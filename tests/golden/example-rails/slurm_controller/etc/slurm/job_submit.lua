-- Managed by Drawbridge: change the inventory, not this file.

local gated = { ["ai-train"] = true, ["ai-infer"] = true }

local function first_gated(partitions)
   for name in string.gmatch(partitions or "ai-train", "[^,]+") do
      if gated[name] then
         return name
      end
   end
end

local own = {}

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

slurm_job_submit = in_turn(own.slurm_job_submit)
slurm_job_modify = in_turn(own.slurm_job_modify)

return slurm.SUCCESS
