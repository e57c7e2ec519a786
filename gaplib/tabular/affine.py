"""The paper's Gaussian mechanism on one column: shift and noise that depend on a private bit, as for two Gaussians."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy  # scipy.special is loaded when it is first used

from gaplib import _checks, gaussian
from gaplib.mechanisms import AffineGaussian
from gaplib.models import GaussianMixture
from gaplib.tabular.columns import Records
from gaplib.tabular.grid import without_last_digits


@dataclass(frozen=True)
class Affine:
    """``x + shift + scale N`` with a shift and a scale for each private value; a missing number stays missing."""

    shifts: np.ndarray
    scales: np.ndarray

    @property
    def draws(self) -> int:
        """How many uniform numbers each record takes."""
        return 1

    def release(self, records: Records, labels: np.ndarray, uniform: np.ndarray) -> Records:
        """Return the release of each record; `uniform` has the shape (n, 1)."""
        normal = scipy.special.ndtri(np.maximum(uniform, 2.0**-54))  # a uniform number may be 0
        step = self.shifts[labels] + self.scales[labels] * normal[:, 0]
        numbers = records.numbers + step[:, np.newaxis]
        return Records(without_last_digits(numbers, np.max(self.scales)), records.codes)


def affine(x: np.ndarray, labels: np.ndarray, kind: str, D: float) -> Affine:
    """Return the optimum for the two Gaussians that fit the sample best, where numbers are missing without them.

    A mechanism that does not see Y cannot shift towards the middle: all of its budget is noise (Theorem 2), the
    same for both private values.
    """
    if kind == "pdi":
        mechanism = AffineGaussian(0, 0, math.sqrt(D), math.sqrt(D))
        return Affine(mechanism.shifts, mechanism.scales)
    there = ~np.isnan(x)
    x, labels = x[there], labels[there]
    if len(np.unique(labels)) < 2:
        raise ValueError("the method 'affine' needs numbers for both private values, got missing ones for all of one")
    upside_down = x[labels == 1].mean() < x[labels == 0].mean()
    try:
        model = GaussianMixture.from_sample(-x if upside_down else x, labels)
    except ValueError:  # whose message shows numbers of the table
        raise ValueError(
            "the method 'affine' needs numbers that differ for each private value, by more than floats round, and by "
            "more than 1e-25; 'transport' takes any"
        ) from None
    best = _checks.instance("mechanism", gaussian.optimal_affine(model, D).mechanism, AffineGaussian)
    return Affine(-best.shifts if upside_down else best.shifts, best.scales)
