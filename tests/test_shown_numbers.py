"""Outputs are compared by the digits that they show: a flipped last digit passes, anything more does not."""

import pytest
from shown_numbers import same

SAME = [
    ("value 0.998975388", "value 0.998975387"),  # on the edge of rounding
    ("a 9.99  b 3", "a 10.00 b 3"),
    ("worst 3e-16", "worst -1.1e-15"),  # both are zero in double precision
    ("D = .5, 12 games", "D = .5,  12 games"),
    ("[0.123456789, {'a': 1.0}]", "[0.12345679, {'a': 1.0}]"),
    ("0.5", "0.500000001"),
]
DIFFERENT = [
    ("value 0.998975388", "value 0.998975386"),
    ("12 games", "13 games"),
    ("value 0.50", "value 0.52"),
    ("worst 3e-16", "worst 3e-8"),
    ("holds: a", "holds: b"),
    ("one 0.5", "one 0.5 0.5"),
    ("0.5", "0.50000001"),  # recorded: nine digits are promised
    ("[1, 2]", "[1, 3]"),
    ("[1.0]", "[True]"),
    ("{'a': 0.5}", "{'b': 0.5}"),
    ("value 0.5", "value nan"),
]


@pytest.mark.parametrize("text, other", SAME)
def test_the_same(text, other):
    assert same(text, other) and same(other, text)


@pytest.mark.parametrize("text, other", DIFFERENT)
def test_not_the_same(text, other):
    assert not same(text, other) and not same(other, text)
