# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The one list of shared file systems, which all kinds fill."""

from __future__ import annotations

from ..storage.gpfs import view as gpfs_view
from ..storage.gpfs.model import Gpfs
from ..storage.model import SharedFilesystem
from ..storage.nfs import view as nfs_view
from ..storage.nfs.model import Nfs


def shared(gpfs: Gpfs | None, nfs: Nfs | None) -> list[SharedFilesystem]:
    """File systems of all kinds, in the order of the intent."""
    return [*(gpfs_view.shared(gpfs) if gpfs else ()), *(nfs_view.shared(nfs) if nfs else ())]
