# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The arguments of an action that many hosts run, evaluated without Ansible's templating where that is possible.

Ansible compiles each template for each host, and evaluates a view anew for each part of it that an argument has. That
is more work than to read a switch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .direct import Direct
from .direct_filters import Unknown
from .play_tasks import Settled


class DirectArguments:
    """A base of actions. Ansible calls both methods since 2.19.

    It calls them experimental. A release without them evaluates all arguments itself, with the same values.
    """

    @classmethod
    @contextlib.contextmanager
    def get_finalize_task_args_context(cls) -> Iterator[list[Settled]]:
        """What the arguments of one task share: the variables that are evaluated already."""
        yield []

    @classmethod
    def finalize_task_arg(cls, name: str, value: Any, templar: Any, context: list[Settled]) -> Any:
        """The value of one argument."""
        del name
        if not context:
            context.append(Settled(templar._loader))
        variables = templar.available_variables
        try:
            return Direct(templar._loader, context[0].named(str(value), variables), variables).value(value)
        except Unknown:
            return templar.template(value)
