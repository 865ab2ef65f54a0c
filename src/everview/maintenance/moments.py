"""VARIANCE and STDDEV of exact numbers from their moments: how many, their sum, that of squares.

With m values, s = Σx and q = Σx², all of them exact, the squared distances from the mean add up to
(m·q − s²) / m. Computed like that, m·q and s² have more digits than a decimal; in doubles,
little may be left of their difference. So the mean is first rounded to a value a that x could
have, which needs doubles only:

    a = s / m, rounded to the scale of x      r = s − a·m
    Σ(x − a)² = q − a·(s + r)                 exact, in decimals
    Σ(x − s/m)² = Σ(x − a)² − r² / m          in doubles

Nothing overflows: a·(s + r) = (s² − r²) / m is at most q. And the last line keeps its digits: in
units of the last digit of x every x − a is an integer, so Σ(x − a)² is at least |r|, and a is the
nearest, so |r| / m is a half at most: at least half of Σ(x − a)² is left. Spark goes through
the values in doubles instead, so the last digits differ.

Digits: a has those of x, p of them, and (s + r) is cast to 37 − p, so their product has 38, of
which Spark cuts none off. Squares have 27, so that one times a weight, which is an INT, has 38;
their sum is kept in 37, so that one added to another has 38. Up to p = 13 this is enough for
10 billion values of the greatest magnitude, as Spark's own sums of decimals are. (Sums of INT are
kept as BIGINT: 4 billion.) In doubles, which have 15 digits, a is near enough.
"""

from __future__ import annotations

from dataclasses import dataclass

from everview.algebra.scalars import ONE, ZERO, Compare, Scalar, Verbatim
from everview.analysis.column_types import decimal_digits

FUNCTIONS = {"var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp", "stddev"}
_OF_ALL = {"var_pop", "stddev_pop"}
"""Those of all values; the others take them for a sample, and are NULL for a single one."""
_ROOTS = {"stddev_pop", "stddev_samp", "stddev"}
_INTEGERS = {"tinyint": 3, "smallint": 5, "int": 10}
_MOST_DIGITS = 13


@dataclass(frozen=True)
class Moments:
    """How the moments of a type of numbers are kept, and what is computed from them."""

    digits: int
    scale: int

    @property
    def of_value(self) -> str:
        return f"DECIMAL({self.digits},{self.scale})"

    @property
    def of_factor(self) -> str:
        """The type of what is multiplied with a value: their product has 38 digits."""
        return f"DECIMAL({37 - self.digits},{self.scale})"

    @property
    def of_square(self) -> str:
        return f"DECIMAL(27,{2 * self.scale})"

    @property
    def of_squares(self) -> str:
        """The type in which the sum of squares is kept."""
        return f"DECIMAL(37,{2 * self.scale})"

    def square(self, x: Scalar) -> Scalar:
        """What a value adds to the sum of squares."""
        value, factor = _cast(x, self.of_value), _cast(x, self.of_factor)
        return _cast(Verbatim((value, " * ", factor)), self.of_square)

    def value(self, function: str, m: Scalar, s: Scalar, q: Scalar) -> Scalar:
        """What a function gives for m values with the sum s and the sum of squares q."""
        least = ZERO if function in _OF_ALL else ONE
        divisor = m if function in _OF_ALL else Verbatim((m, " - 1"))
        value: Scalar = Verbatim((self._distances(m, s, q), " / ", _double(divisor)))
        if function in _ROOTS:
            value = Verbatim(("sqrt(", value, ")"))
        return Verbatim(("CASE WHEN ", Compare(">", m, least), " THEN ", value, " END"))

    def _distances(self, m: Scalar, s: Scalar, q: Scalar) -> Scalar:
        """Σ(x − s/m)²: the squared distances from the mean."""
        a = _cast(Verbatim((_double(s), " / ", _double(m))), self.of_value)
        total = _cast(s, f"DECIMAL({self.digits + 10},{self.scale})")
        r = Verbatim((total, " - ", Verbatim((a, " * ", _cast(m, "DECIMAL(20,0)")))))
        factor = _cast(Verbatim((total, " + ", r)), self.of_factor)
        product = _cast(Verbatim((a, " * ", factor)), self.of_squares)
        rest = Verbatim(("power(", _double(r), ", 2) / ", _double(m)))
        return Verbatim((_double(Verbatim((q, " - ", product))), " - ", rest))


def moments(type_: str) -> Moments | None:
    """The moments of numbers of a type; None if no decimal is surely enough for their squares."""
    digits, scale = decimal_digits(type_) or (_INTEGERS.get(type_, 0), 0)
    return Moments(digits, scale) if 0 < digits <= _MOST_DIGITS else None


def why_no_moments(type_: str) -> str:
    """Why the moments of a type are not kept."""
    if type_ == "bigint" or decimal_digits(type_):
        return f"the sum of squares of {type_.upper()} may have more digits than a decimal"
    if type_ in ("float", "double"):
        return f"{type_.upper()} is rounded when it is added and subtracted"
    return "the type of its values is not known" if not type_ else f"{type_} is no exact number"


def _double(number: Scalar) -> Scalar:
    return _cast(number, "DOUBLE")


def _cast(value: Scalar, type_: str) -> Scalar:
    return Verbatim(("CAST(", value, f" AS {type_})"))
