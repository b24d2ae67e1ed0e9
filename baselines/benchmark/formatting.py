"""Numbers as text, the same in all tables: about four digits, intervals in brackets, or "±" half their width."""

import math

from baselines.benchmark.statistics import Estimate

NONE = "–"  # stands for nan


def number(value: float, sign: str = "", digits: int | None = None) -> str:
    """About four digits, and no exponent.

    >>> number(12345.6), number(123.45), number(0.1234), number(0.1234, digits=2)
    ('12,346', '123.5', '0.123', '0.12')

    Args:
        value: the number; "–" for nan.
        sign: "+" shows the sign of positive numbers too.
        digits: after the point; None: as many as the size asks for.
    """
    if math.isnan(value):
        return NONE
    if digits is None:
        if value == 0:
            return "0"
        digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2 if abs(value) >= 10 else 3
    return f"{value:{sign}z,.{digits}f}"  # z: no minus before zeros only


def bracketed(estimate: Estimate, sign: str = "", digits: int | None = None) -> str:
    """``value [low, high]``; the value alone where there is no interval, or one of no width.

    >>> bracketed(Estimate(12.3, 11.9, 12.8)), bracketed(Estimate(0.51, 0.5, 0.52), digits=2)
    ('12.30 [11.90, 12.80]', '0.51 [0.50, 0.52]')
    """
    value, low, high = (number(end, sign, digits) for end in estimate)
    return value if low == high else f"{value} [{low}, {high}]"


def plus_minus(estimate: Estimate, sign: str = "", digits: int | None = None) -> str:
    """``value ± half the width`` of the 95% interval; the value alone where there is none, or one of no width.

    >>> plus_minus(Estimate(12.3, 11.9, 12.7))
    '12.30 ± 0.400'
    """
    half = estimate.half_width
    return number(estimate.value, sign, digits) + (f" ± {number(half, digits=digits)}" if half > 0 else "")


def p_value(p: float) -> str:
    """Three digits.

    >>> p_value(0.0123), p_value(1e-5)
    ('0.012', '<0.001')
    """
    return "<0.001" if p < 0.001 else number(p, digits=3)
