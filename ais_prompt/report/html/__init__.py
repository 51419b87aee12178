"""The report for a browser: one file that holds everything, makes no request and obeys no text."""

from ais_prompt.report.html.writer import forget_report, write_report

__all__ = ["forget_report", "write_report"]
