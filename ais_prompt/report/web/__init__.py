"""The report for a browser: one file that holds everything and makes no request."""

from ais_prompt.report.web.writer import forget_report, write_report

__all__ = ["forget_report", "write_report"]
