"""Evidence for others: locks of prompts, whether two models are the same, a finished run in a file to be verified."""

from typing import Final

from ais_prompt.extension import Extension, FileEntry, VerbEntry

EXTENSION: Final = Extension(
    verbs={
        "lock": VerbEntry(
            "Compare",
            "lock_command:lock",
            "Write the prompts of a config into a lock.",
            "locks.drift_view:DriftDocument",
        ),
        "diff": VerbEntry("Compare", "lock_command:diff", "Compare prompts.", "locks.drift_view:DriftDocument"),
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
    options={
        "run": {
            "--locked": "lock_command:LOCKED",
            "--lock-file": "lock_command:LOCK_FILE",
        },
    },
    files={
        "prompt-lock": FileEntry(
            "CONFIG.lock",
            "A digest of every prompt of a config, and the text of a few. It is beside the config.",
            "locks.lock_file:PromptLockFile",
            version=1,
        ),
    },
    functions={"check_lock": "locks.prompt_lock", "lock": "locks.prompt_lock"},
    results={"Drift": "locks.drift"},
    moved={"ais_prompt.locks": "locks"},
    steps={"may_ask": "lock_command:is_locked"},
)
