#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What IBM's driver for Kubernetes needs of a Storage Scale cluster."""

DOCUMENTATION = r"""
module: mm_csi_info
short_description: Read whether an IBM Storage Scale (GPFS) cluster can serve IBM's driver for Kubernetes
version_added: 0.1.0
description:
  - Runs on an admin host of the cluster and changes nothing.
  - Fails if a file system does not enforce quotas of filesets, or if df in filesets shows the whole file system. The
    driver refuses such file systems, and the error names the command.
  - Fails, too, if the host's cluster has another id.
author: Drawbridge contributors (@drawbridge)
options:
  cluster_id:
    description: Id of the cluster that this host must belong to.
    type: str
    required: true
  filesystems:
    description: Device names of the file systems that storage classes use.
    type: list
    elements: str
    required: true
  nodes:
    description: Nodes of Kubernetes to look for.
    type: list
    elements: str
    required: true
  daemon_suffix:
    description: Text after a node's name that gives the name of its daemon interface.
    type: str
    default: ""
  admin_suffix:
    description: Text after a node's name that gives the name of its admin interface.
    type: str
    default: ""
  mm_path:
    description: Directory of the mm commands.
    type: path
    default: /usr/lpp/mmfs/bin
  timeout_s:
    description: Seconds after which one mm command is killed.
    type: int
    default: 120
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: There are no changes.
    support: full
"""

EXAMPLES = r"""
- name: Read which nodes mount the file systems of storage classes
  drawbridge.drawbridge.mm_csi_info:
    cluster_id: "2936932203756487754"
    filesystems: [fs1]
    nodes: [infra1, infra2, gpu01]
  register: found
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Changes that can't be made now, each with the reason.
  returned: always
  type: list
  elements: str
mounted:
  description: Those of the nodes that mount all of the file systems, by GPFS's own list.
  returned: success
  type: list
  elements: str
done:
  description: Steps that were done.
  returned: failure
  type: list
  elements: str
left:
  description: Steps that were not done.
  returned: failure
  type: list
  elements: str
"""

from ..module_utils.drawbridge.core.module import main_of
from ..module_utils.drawbridge.storage.gpfs.csi.layer import MM_CSI_INFO


def main() -> None:
    """Run this layer."""
    main_of(MM_CSI_INFO)


if __name__ == "__main__":
    main()
