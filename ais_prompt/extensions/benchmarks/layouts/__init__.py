"""Famous benchmarks, as OpenCompass and AISBench keep their files: no code of theirs is needed to read them."""
