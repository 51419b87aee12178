"""None"""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.config.command_secrets import secrets_in_command, takes_secret
    from ais_prompt.config.compose import compose_config, with_summarizer
    from ais_prompt.config.custom_imports import Surroundings, import_custom_modules, make_importable
    from ais_prompt.config.literals import literals_of, parse_literal
    from ais_prompt.config.load import LoadedConfig, load_config, plain_config, plain_value
    from ais_prompt.config.locate import (
        KINDS,
        ConfigTree,
        NamedConfig,
        config_folders,
        find_config,
        find_shipped,
        list_configs,
        list_shipped,
        match_shipped,
        search_configs,
        shipped_root,
    )
    from ais_prompt.config.notes import Note, NoteList
    from ais_prompt.config.overrides import apply_overrides
    from ais_prompt.config.parse.dataset import parse_reader
    from ais_prompt.config.parse.model import is_token_id, parse_meta_template
    from ais_prompt.config.parse.run import DEFAULT_WORK_DIR, parse_run, parse_summary
    from ais_prompt.config.parse.sample_draw import EXAMPLES, parse_draw
    from ais_prompt.config.parse.section import ConfigSection, Faults, shown
    from ais_prompt.config.paths import expand, replace_paths, resolve_data_path
    from ais_prompt.config.redact import redacted, redacted_override, register_secrets, shown_body, shown_command
    from ais_prompt.config.render import hidden_again, literal_values, render_config
    from ais_prompt.config.schema import (
        CONFIG,
        DATASET,
        EVAL,
        GROUP,
        INFER,
        META_ROLE,
        META_TEMPLATE,
        NEEDED,
        READER,
        ROLE_TEMPLATE,
        SUMMARIZER,
        TABLES,
        TEMPLATE,
        TURN,
        Key,
        KeyTable,
    )
    from ais_prompt.config.sections import SectionForm, all_tables
    from ais_prompt.config.stored_config import Dropped, load_stored, unusable_parts, without_permissions
    from ais_prompt.config.where import find_spot
else:
    __getattr__, __dir__ = offered(__name__)
