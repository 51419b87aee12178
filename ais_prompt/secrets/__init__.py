"""What is secret, the forms in which it is written, and hiding it in all that is shown or stored."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.secrets.forms import SECRET_KEY, is_reference, secrets_in_command, takes_secret
    from ais_prompt.secrets.known import (
        HIDDEN,
        SECRET_VARIABLE,
        SECRETS,
        SHORTEST,
        VARIABLE,
        SecretRegistry,
        hide_in_url,
        hide_in_urls,
        secrets_in_url,
        secrets_in_urls,
    )
else:
    __getattr__, __dir__ = offered(__name__)
