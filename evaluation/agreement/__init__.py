"""Agreement of raters with each other, and of the rules with the raters."""

from evaluation.agreement._disagreements import GameDisagreement, RuleGap
from evaluation.agreement._figures import Figure
from evaluation.agreement._items import ITEMS, Item
from evaluation.agreement._metrics_against_raters import ReferenceAgreement
from evaluation.agreement.between_raters import ItemAgreement, PairAgreement, RaterLeaning
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
