"""A data holder's table: hide one column in the others, release records, and audit what was released.

Needs what the extra ``tabular`` of gaplib brings: pandas, scikit-learn, Arrow and POT.
"""

from gaplib.tabular.auditing import Audit, audit
from gaplib.tabular.mapping import trade_off
from gaplib.tabular.privatizer import TablePrivatizer
from gaplib.tabular.saved import load, save

__all__ = ["Audit", "TablePrivatizer", "audit", "load", "save", "trade_off"]
