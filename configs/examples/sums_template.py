"""The role template of own_role_template.py."""

from ais_prompt.prompts import Message
from ais_prompt.prompts import RoleTemplateInterface


class SumsTemplate(RoleTemplateInterface):
    """Write `Question: ` before what the user says, without blanks around it, and `Answer: ` before the assistant's."""

    def __call__(self, messages, inference=False):
        names = {'user': 'Question', 'assistant': 'Answer'}
        return [
            Message(message.role, f'{names.get(message.role, "Note")}: {message.text_content.strip()}\n')
            for message in messages
        ]
