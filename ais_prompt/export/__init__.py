"""Results in the forms of other programs: tables, Every Eval Ever, inspect_ai, lm-evaluation-harness."""
