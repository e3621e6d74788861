-- the site's own script
marker = "set by the site's script"

function slurm_job_submit(job, partitions, uid)
   if job.admin_comment == nil then
      job.admin_comment = marker
   end
   return slurm.SUCCESS
end

function slurm_job_modify(change, job, partitions, uid)
   return slurm.SUCCESS
end

return slurm.SUCCESS
