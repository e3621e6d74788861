#!/bin/bash
# The commands that most sites start from, in the prolog of every node: uncordon it, then write the job on it.
NODENAME=$SLURMD_NODENAME
kubectl --kubeconfig="$KUBECONFIG" uncordon "$NODENAME"
kubectl --kubeconfig="$KUBECONFIG" label node "$NODENAME" \
    slurm.job-id="$SLURM_JOB_ID" \
    slurm.partition="$SLURM_JOB_PARTITION" \
    --overwrite
exit 0
