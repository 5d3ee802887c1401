"""Experiments: a treatment against a control, and the published table that they are compared with."""

from evaluation.experiments.table1_recomputed import CAVEAT, Table1Row, table1_from_raw

__all__ = ["CAVEAT", "Table1Row", "table1_from_raw"]
