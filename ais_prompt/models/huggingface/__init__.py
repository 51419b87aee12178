"""Language models in this process's memory, through Hugging Face transformers."""
