# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Options from the intent, documented from its declaration."""

from __future__ import annotations

from ..module_utils.drawbridge.core.spec import documented, elements, fragment
from ..module_utils.drawbridge.fabric.model import SwitchProfile
from ..module_utils.drawbridge.nodes.model import Gpus
from ..module_utils.drawbridge.slurm.accounting.model import Absent
from ..module_utils.drawbridge.slurm.nodes.model import Machine
from ..module_utils.drawbridge.storage.directories.model import Directory
from ..module_utils.drawbridge.storage.gpfs.model import Filesystem
from ..module_utils.drawbridge.storage.nfs.model import Export


class ModuleDocFragment:
    """One fragment for each part of the intent. An option that a view may hold is not required beside it."""

    GPFS_FILESYSTEMS: str = fragment({"filesystems": elements(Filesystem)})
    SHARED_DIRECTORIES: str = fragment({"directories": {**elements(Directory), "required": True}})
    NFS_MOUNTS: str = fragment({"mounts": elements(Export)})
    SWITCH_PROFILE: str = fragment({"profile": {**documented(SwitchProfile), "required": True}})
    GPU_VENDOR: str = fragment({"gpu_vendor": documented(Gpus)["options"]["vendor"]})
    SLURM_ABSENT: str = fragment({"absent": {**documented(Absent), "default": {}}})
    SLURM_MACHINE: str = fragment({"machine": documented(Machine)})
