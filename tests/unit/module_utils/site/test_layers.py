# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.layers import LAYERS

MODULES = "ansible_collections.drawbridge.drawbridge.plugins.modules"


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_its_module(name: str) -> None:
    module = importlib.import_module(f"{MODULES}.{name}")
    assert getattr(module, name.upper()) is LAYERS[name]


@pytest.mark.parametrize("name", LAYERS)
def test_secrets_are_options_of_their_own(name: str) -> None:
    """The visit hands them over apart; it would not find one inside of another option."""
    nested = [option.get("options", {}) for option in LAYERS[name].spec.values()]
    assert not [key for options in nested for key, option in options.items() if option.get("no_log")]
