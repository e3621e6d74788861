-- Managed by Drawbridge: change the inventory, not this file.
local gated = { ["ai-train"] = true, ["ai-infer"] = true }

local function first_gated(partitions)
   for name in string.gmatch(partitions or "ai-train", "[^,]+") do
      if gated[name] then
         return name
      end
   end
end

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
