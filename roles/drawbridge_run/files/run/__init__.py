# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""drawbridge-run: makes a workload of Kubernetes from a Slurm job, and of its end the job's exit code."""
