"""What a person sees: progress while it runs, tables when it is done."""
