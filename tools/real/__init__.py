"""Run OpenCompass, AISBench and this program on the same configs and rows, and compare everything: ``make real``."""
