# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Texts of --help and of the manual page, except options. Lines fit 80 columns."""

from __future__ import annotations

USAGE = """drawbridge-run --image IMAGE [OPTIONS] -- COMMAND [ARGUMENT...]
       drawbridge-run --shell [--image IMAGE | --rank N] [-- COMMAND...]
       drawbridge-run doctor [JOB]"""

DESCRIPTION = """\
Runs COMMAND in one pod on each node of this Slurm job, with all of the node's
GPUs, as yourself, and ends as it ends. Call it from a batch script of a
partition that Kubernetes may use, best as its last line and with exec:

  #!/bin/sh
  #SBATCH --partition=ai-train --nodes=2 --gres=gpu:8 --time=4:00:00
  exec drawbridge-run --image nvcr.io/nvidia/pytorch:26.07-py3 -- \\
    torchrun train.py
"""

EPILOG = """\
Pods have the site's shared file systems at their usual paths, your current
directory and umask, a large /dev/shm and the site's NCCL settings. For
torchrun and others they have MASTER_ADDR, MASTER_PORT, NNODES, NODE_RANK and
PET_*. Rank 0 is on the job's first node, the others follow in Slurm's order.
Pass other variables of your environment on with --env.

A project may have claims and data sets. --claim NAME mounts one at
/claims/NAME, beside the file systems. Images may be limited, too.

On a node with divided GPUs (MIG) a pod has all instances. A process can use one
of them: set CUDA_VISIBLE_DEVICES to a UUID that nvidia-smi -L prints. NCCL does
not connect instances.

Pods have your uid and your job's group, but none of your other groups: COMMAND
can't read files that only such a group may read.

SIGUSR1 and SIGUSR2, which Slurm sends when you ask it to
(sbatch --signal=B:USR1@300), are passed on to COMMAND on every rank.

Output of COMMAND on rank 0 goes to standard output, messages of drawbridge-run
to standard error.

exit code
  that of COMMAND, on the rank that failed first
  124  The job's time limit came: the pods got SIGTERM in time for --grace.
  125  COMMAND did not run, or its node was lost. The last line says why.
  126  COMMAND can't be executed.
  127  The image has no such program.
  130  Interrupted.
  143  Ended by Slurm (scancel, preemption).
"""
