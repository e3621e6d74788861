# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What releases of ansible-core since 2.16 do by different names."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ansible import template
from ansible.errors import AnsibleError
from ansible.executor import task_executor
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.conditional import Conditional
from ansible.utils.unsafe_proxy import wrap_var

TRUSTED: Mapping[str, Any] = (
    {"trusted_as_template": True}
    if "trusted_as_template" in inspect.signature(DataLoader.load_from_file).parameters
    else {}
)
"""Arguments for a file whose templates are the site's own. Since 2.19 others are not evaluated."""


def host_of(result: Any) -> str:
    """The host of a task's result, as callbacks get it."""
    return (result.host if hasattr(result, "host") else result._host).get_name()


def task_of(result: Any) -> Any:
    """The task of a result."""
    return result.task if hasattr(result, "task") else result._task


def data_of(result: Any) -> dict[str, Any]:
    """What the task returned."""
    return result.result if hasattr(result, "result") else result._result


def evaluated(templar: Any, raw: Any) -> Any:
    """The value of a template. Raises AnsibleError also for what a filter raises, as releases since 2.19 do."""
    try:
        return templar.template(raw)
    except AnsibleError:
        raise
    except Exception as err:
        raise AnsibleError(f"{type(err).__name__}: {err}") from err


def is_true(templar: Any, loader: Any, condition: Any) -> bool:
    """Whether a condition of `when` is true. Raises AnsibleError."""
    if hasattr(templar, "evaluate_conditional"):
        return templar.evaluate_conditional(condition)
    check: Any = Conditional(loader=loader)
    check.when = [condition]
    return check.evaluate_conditional(templar, templar.available_variables)


def evaluated_args(task: Any, engine: Any) -> dict[str, Any]:
    """The evaluated arguments of a task, without those whose value is `omit`. Raises AnsibleError."""
    if hasattr(task, "post_validate_attribute"):
        return task.post_validate_attribute("args", templar=engine)
    # before 2.19 the executor does this, as it runs the module
    args = evaluated(engine, task.args)
    args = {**args.pop("_variable_params", {}), **args}
    executor: Any = task_executor
    return executor.remove_omit(args, engine.available_variables.get("omit"))


def evaluated_value(value: Any) -> Any:
    """An evaluated value as a variable: its text is no template.

    Before 2.19 it must be marked so.
    """
    return value if hasattr(template, "is_trusted_as_template") else wrap_var(value)


def registered(task: Any) -> list[str]:
    """Names of the variables that a task registers: the keys of a dict, or one text before 2.19."""
    names = getattr(task, "register", None) or []
    return [names] if isinstance(names, str) else list(names)
