"""Whether raters agree with each other, and whether the rules agree with them."""

from evaluation.agreement.disagreements import GameDisagreement, RuleGap
from evaluation.agreement.figures import Figure
from evaluation.agreement.items import ITEMS, Item
from evaluation.agreement.raters import ItemAgreement, PairAgreement, RaterLeaning
from evaluation.agreement.references import ReferenceAgreement
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
