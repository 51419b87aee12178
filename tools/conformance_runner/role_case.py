"""Cases of torchtune's role templates: messages in, messages out."""

from __future__ import annotations

from typing import Any

from ais_prompt.prompts import Message, parse_role_template
from tools.conformance_runner.cases import Case
from tools.conformance_runner.outcome import Outcome, ending_in, stage


def run_role_case(case: Case) -> Outcome:
    """The messages after the template was applied."""
    outcome: Outcome = {}
    with ending_in(outcome), stage("format"):
        template = parse_role_template(case.config["role_template"])
        messages = [Message(**message) for message in case.data["messages"]]
        formatted = template(messages, inference=case.config.get("inference", False))
        outcome["messages"] = [_plain(message) for message in formatted]
        outcome["messages_text"] = [[message.role, message.text_content] for message in formatted]
    return outcome


def _plain(message: Message) -> dict[str, Any]:
    return {
        "role": message.role,
        "text": message.text_content,
        "content": message.content,
        "masked": message.masked,
        "ipython": message.ipython,
        "eot": message.eot,
    }
