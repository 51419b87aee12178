"""Tokenizers: text to tokens and back, token counts, digests of tokenizer files."""
