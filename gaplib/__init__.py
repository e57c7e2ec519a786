"""Generative adversarial privacy: optimal and learned mechanisms, and what an adversary learns from them.

Import the module you need: ``from gaplib import models, mechanisms, leakage, binary``.
"""

__version__ = "0.2.0"
