"""What to do about a role that a chat template or a server refuses."""

from __future__ import annotations

import re
from typing import Final

SYSTEM_FIX: Final = (
    "give the model a meta_template without SYSTEM, dict(round=[dict(role='HUMAN', api_role='HUMAN'), "
    "dict(role='BOT', api_role='BOT', generate=True)]), and the system turn fallback_role='HUMAN'"
)
_SYSTEM: Final = re.compile(
    r"\b(system|developer)\b.{0,80}\b(role|support\w*|instruction\w*|not (enabled|allowed|permitted))\b"
    r"|\b(role|support\w*)\b.{0,80}\b(system|developer)\b",
    re.IGNORECASE | re.DOTALL,
)


def refuses_system(error: str) -> bool:
    """Return whether an error of a server or a chat template says that there is no system role."""
    return bool(_SYSTEM.search(error))


def role_fix(error: str) -> str:
    """Return what to do about messages whose roles a chat template refuses."""
    return SYSTEM_FIX if refuses_system(error) else "give the prompt the roles that it takes, in its order"
