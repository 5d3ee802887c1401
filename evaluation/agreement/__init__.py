"""Agreement of raters with each other, and of the rules with the raters."""

from evaluation.agreement._items import ITEMS, Figure, Item
from evaluation.agreement._metrics_against_raters import ReferenceAgreement
from evaluation.agreement.between_raters import GameDisagreement, ItemAgreement, PairAgreement, RaterLeaning, RuleGap
from evaluation.agreement.report import AgreementReport, agreement_report
from evaluation.agreement.rows import DecidedRow, RowAgreement

__all__ = [
    "ITEMS",
    "AgreementReport",
    "DecidedRow",
    "Figure",
    "GameDisagreement",
    "Item",
    "ItemAgreement",
    "PairAgreement",
    "RaterLeaning",
    "ReferenceAgreement",
    "RowAgreement",
    "RuleGap",
    "agreement_report",
]
