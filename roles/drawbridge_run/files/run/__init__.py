# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""drawbridge-run starts a Kubernetes workload from a Slurm job and ends with its exit code."""
