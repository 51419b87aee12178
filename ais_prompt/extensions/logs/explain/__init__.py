"""Why two scores differ, whatever tools made them: computed from their logs, or found by asking again."""
