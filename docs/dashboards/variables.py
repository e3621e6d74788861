# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The choices at the top of dashboards."""

from __future__ import annotations

from docs.dashboards.model import Variable

NODES = Variable("node", "Node", "label_values(drawbridge:rail_up:bool, node)")
GATED = Variable("node", "Node", "label_values(drawbridge_gate_runs_total, instance)")
STORAGE_NODES = Variable("node", "Node", "label_values(drawbridge:storage_read:bytes_rate5m, node)")
RAILS = Variable("rail", "Rail", "label_values(drawbridge:rail_up:bool, rail)")
SWITCHES = Variable("switch", "Switch", "label_values(drawbridge_switch_up, switch)")
PARTITIONS = Variable("partition", "Partition", "label_values(drawbridge:slurm_jobs, partition)")
FILE_SYSTEMS = Variable("fs", "File system", "label_values(drawbridge:storage_read:bytes_rate5m, fs)")
JOB = Variable("job", "Job", "label_values(drawbridge:node_job, job)", several=False)
NODES_OF_JOB = Variable("node", "Node", 'label_values(drawbridge:node_job{job="$job"}, node)', listed=True)
