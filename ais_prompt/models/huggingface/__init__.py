"""Local language models, with Hugging Face transformers."""
