"""Evidence for others: whether two models are the same, and a finished run in one file that can be verified."""

from typing import Final

from ais_prompt.extension import Extension, VerbEntry

EXTENSION: Final = Extension(
    verbs={
        "same": VerbEntry(
            "Compare", "same_command:same", "Find out whether two models are the same.", "documents:SameDocument"
        ),
        "seal": VerbEntry(
            "Others", "verify_command:seal", "Put a finished run into one file, as evidence.", "documents:SealDocument"
        ),
        "verify": VerbEntry(
            "Others",
            "verify_command:verify",
            "Verify a sealed run: bytes, prompts, scores.",
            "documents:VerifyDocument",
        ),
    },
)
