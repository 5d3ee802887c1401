"""Metric results with controls, overrides and judge decisions."""
