# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from bench.fit import fitted


def test_points_on_a_line_have_no_error() -> None:
    line = fitted([(2, 5.0), (4, 9.0), (8, 17.0)])
    assert (line.start, line.node, line.off) == pytest.approx((1, 2, 0))
    assert line.at(1000) == pytest.approx(2001)
    assert line.error(1000) == pytest.approx(0)


def test_the_error_is_two_standard_errors_and_grows_away_from_the_points() -> None:
    """Sizes 0, 1, 2, 3 with residuals 1, -1, -1, 1: spread is the root of 4 / 2, the centre 1.5, the squares 5."""
    line = fitted([(0, 1.0), (1, -1.0), (2, -1.0), (3, 1.0)])
    assert (line.start, line.node, line.off) == pytest.approx((0, 0, 1))
    assert line.error(1.5) == pytest.approx(2 * (2 * 1.25) ** 0.5)
    assert line.error(101.5) == pytest.approx(2 * (2 * (1.25 + 10000 / 5)) ** 0.5)
