#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Storage Scale's software on this host."""

DOCUMENTATION = r"""
module: mm_software
short_description: Install IBM Storage Scale (GPFS) on this host, with kernel modules for its kernel
version_added: 0.1.0
description:
  - Installs the packages in one version and holds them, so that no other upgrade of the host replaces them.
  - Compiles the kernel modules with C(mmbuildgpl) if they are missing for the running kernel or older than GPFS, or
    installs them as the package C(gpfs.gplbin). A kernel without headers, or one that GPFS does not support, is an
    error that names the kernel and GPFS's version.
  - Another version than the installed one needs O(may_upgrade) and a node without jobs. It stops GPFS on this host.
  - Removes the configuration of a cluster that has deleted this host (O(deleted_from)).
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view]
options:
  packages:
    description: Packages with their versions; an empty version stands for any. Without packages the site installs them.
    type: dict
    default: {}
  version:
    description: GPFS's version; empty to leave the kernel modules alone.
    type: str
    default: ""
  manager:
    description: The package manager.
    type: str
    choices: [apt, dnf]
    default: apt
  sources:
    description: Text of the packages' repository, a deb822 file for apt or a C(.repo) file for dnf.
    type: str
    default: ""
  directory:
    description: Directory on this host that has the vendor's package files, instead of O(sources).
    type: path
    default: ""
  kernel_modules:
    description: Whether they are compiled here, or come in a package.
    type: str
    choices: [build, prebuilt]
    default: build
  compilers:
    description: Packages that compile them, in any version.
    type: list
    elements: str
    default: []
  headers:
    description: Start of the name of a kernel's package of headers; the kernel's name follows.
    type: str
    default: linux-headers-
  kernels:
    description: Shell patterns of kernels that GPFS's version supports; empty to compare none.
    type: list
    elements: str
    default: []
  accept_license:
    description: Whether you accept IBM's licence agreement for this host. Without it the module does not install GPFS.
    type: bool
    default: false
  may_upgrade:
    description: Whether another version may replace the installed one.
    type: bool
    default: false
  variables:
    description: Names of the variables that set these options, by option, for error messages.
    type: dict
    default: {}
  deleted_from:
    description: Id of a cluster that does not list this host. Its configuration is removed from this host.
    type: str
    default: ""
  slurm_node:
    description: Name of this host in Slurm. What disturbs jobs waits until the node has none.
    type: str
    default: ""
  mm_path:
    description: Directory of the mm commands.
    type: path
    default: /usr/lpp/mmfs/bin
  timeout_s:
    description: Seconds after which one command is killed.
    type: int
    default: 1800
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: Packages, compilers and kernel modules.
    support: full
"""

EXAMPLES = r"""
- name: Install GPFS
  drawbridge.drawbridge.mm_software:
    version: 5.2.3-0
    packages: {gpfs.base: 5.2.3-0, gpfs.gpl: 5.2.3-0, gpfs.gskit: "", gpfs.license.dm: 5.2.3-0}
    compilers: [make, g++]
    accept_license: true
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
local:
  description: C(cluster_id), the id of the cluster whose configuration this host has; empty for none.
  returned: success
  type: dict
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
from ..module_utils.drawbridge.storage.gpfs.software.layer import MM_SOFTWARE


def main() -> None:
    """Run this layer."""
    main_of(MM_SOFTWARE)


if __name__ == "__main__":
    main()
