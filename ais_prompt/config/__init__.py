"""The config of a run: found by name, read, changed by options, parsed into frozen values, and written."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.config.compose import compose_config, with_summarizer
    from ais_prompt.config.items import parse_meta_template
    from ais_prompt.config.keys import (
        CONFIG,
        DATASET,
        DEFAULT_WORK_DIR,
        EVAL,
        GROUP,
        INFER,
        META_ROLE,
        META_TEMPLATE,
        PROMPT,
        READER,
        ROLE_TEMPLATE,
        SUMMARIZER,
        TEMPLATE,
        TURN,
        KeyTable,
        SummarizerKeys,
        keys_of,
    )
    from ais_prompt.config.literals import differing_values, evaluate, literal_values, literals_of, parse_literal
    from ais_prompt.config.load import (
        LoadedConfig,
        Note,
        is_data_file,
        load_config,
        plain_config,
        plain_value,
        register_config_secrets,
    )
    from ais_prompt.config.locate import (
        KINDS,
        ConfigTree,
        NamedConfig,
        config_folders,
        expand,
        find_config,
        find_shipped,
        list_configs,
        list_shipped,
        match_shipped,
        replace_paths,
        resolve_data_path,
        search_configs,
        shipped_root,
    )
    from ais_prompt.config.options import (
        DeclaredOption,
        HfType,
        Need,
        OptionGroup,
        Options,
        OptionSpec,
        declared_options,
        in_python,
        refuse_lone_options,
    )
    from ais_prompt.config.overrides import apply_overrides
    from ais_prompt.config.parse import parse_run, parse_summary
    from ais_prompt.config.redact import (
        hidden_again,
        redacted,
        redacted_override,
        register_secrets,
        render_config,
        shown_body,
        shown_command,
    )
    from ais_prompt.config.section import ConfigSection, Faults, SectionForm, all_tables, shown
    from ais_prompt.config.surroundings import (
        CONFIG_FOLDERS,
        SearchFolders,
        Surroundings,
        import_custom_modules,
        make_importable,
    )
    from ais_prompt.config.variants import keep_variants, name_of_prompt, read_sweep, with_variants
    from ais_prompt.config.where import find_spot
else:
    __getattr__, __dir__ = offered(__name__)
