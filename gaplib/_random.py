"""Seeded random numbers, one stream for each purpose."""

import zlib

import numpy as np

from gaplib import _checks


def generator(seed: int, purpose: str) -> np.random.Generator:
    """Return a Philox generator that `seed` and `purpose` determine.

    The purpose separates the streams: data drawn with seed 0 and noise drawn with seed 0 are independent. Were
    they one stream, the same uniform number would decide the record and its privatization.
    """
    seed = _checks.integer("seed", seed, 0)
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, zlib.crc32(purpose.encode())])))
