"""Show progress while a run lasts, and tables, files and pages when it is done."""
