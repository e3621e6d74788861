# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Views take raw variables. The type of a parameter says whether the site may lack that part of the intent."""

from __future__ import annotations

from typing import Any, Optional, Union

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.faults import IntentError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import of_variables
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.model import Nfs

Lacking = Optional[Nfs]


class NoneToMount(Nfs):
    """A type whose name has None in it."""


def _view(hint: Any) -> Any:
    def view(nfs: Any) -> bool:
        return nfs is None

    view.__annotations__["nfs"] = hint
    return view


@pytest.mark.parametrize("hint", [Lacking, Union[None, Nfs], "Nfs | None", "Optional[Nfs]", "Lacking"], ids=str)
def test_a_part_that_may_be_none_may_be_missing(hint: Any) -> None:
    assert of_variables(_view(hint))(None) is True


@pytest.mark.parametrize("hint", [Nfs, "Nfs", "NoneToMount"], ids=str)
def test_a_part_without_none_is_required(hint: Any) -> None:
    with pytest.raises(IntentError, match="drawbridge_nfs is missing, but it is required"):
        of_variables(_view(hint))(None)
