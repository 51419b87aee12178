"""Models: a prompt in, a completion out.

Every model can be imported from here; the module that defines it is loaded when its name is first used.
"""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.models.api.addresses import ask_root, completed_address, find_provider, only_model, served_models
    from ais_prompt.models.api.asking import (
        THROTTLED,
        Attempt,
        Dispatcher,
        Replica,
        attempts_sent,
        is_temporary,
        traffic_at,
        wait_before_retry,
    )
    from ais_prompt.models.api.attempt import WireFormat, read_reply
    from ais_prompt.models.api.chat import CHAT, COMPLETIONS, STREAMED, ChatStream
    from ais_prompt.models.api.log_probs import (
        EMPTY,
        TOP,
        TokenLogProbs,
        continued,
        is_log_prob,
        prompt_log_probs,
        read_log_probs,
        read_top,
        single_token,
        ways_of,
        whole,
    )
    from ais_prompt.models.api.messages import MESSAGES, AnthropicModel, MessageStream
    from ais_prompt.models.api.model import ApiModel
    from ais_prompt.models.api.openai_models import (
        PROBE,
        REMEMBERED,
        OpenAIChatModel,
        OpenAICompletionModel,
        OpenAIModel,
        OpenAIResponsesModel,
    )
    from ais_prompt.models.api.outage import OUTAGE_FAILURES, OUTAGE_LIMIT_SECONDS, Outage
    from ais_prompt.models.api.pace import AdaptiveLimit, Ramp, RequestRate, TokenRate
    from ais_prompt.models.api.responses import RESPONSES, ResponseStream
    from ais_prompt.models.api.server_words import (
        BROKEN,
        ended,
        http_failure,
        option_hint,
        read_retry_after,
        server_words,
    )
    from ais_prompt.models.api.stream import StreamReader
    from ais_prompt.models.api.wire import BadBody, embed_files
    from ais_prompt.models.api.written_replies import (
        WrittenReply,
        answer_body,
        chat_events,
        error_body,
        error_of_messages,
        message_body,
        message_events,
        response_body,
        response_events,
        words_of,
    )
    from ais_prompt.models.base import (
        AgentModel,
        Asker,
        AsyncModel,
        BatchModel,
        BringsFiles,
        ChecksRequests,
        GathersRequests,
        HasTokenizerPath,
        KnowsStopTokens,
        LikelihoodModel,
        LimitsStops,
        MediaModel,
        Model,
        PromptStyle,
        SendsBodies,
        SendsFields,
        StartsServer,
        TokenizingModel,
        YieldsAnswers,
        address_of,
        cache_identity,
        endpoint_of,
        former_identities,
        full_identity,
        identity_in_keys,
    )
    from ais_prompt.models.flat_options import FLAT_NAMES, LocalNames, SamplingNames, ServedNames, as_flat
    from ais_prompt.models.function import FunctionModel, source_digest
    from ais_prompt.models.huggingface.generation import (
        Generator,
        is_sampling,
        why_alone,
        why_not_joined,
        without_sampling,
    )
    from ais_prompt.models.huggingface.growing import ROOM, growing_cache
    from ais_prompt.models.huggingface.library import cache_for_generate, local_path, pretrained_source
    from ais_prompt.models.huggingface.local_likelihood import (
        LikelihoodComputer,
        TokenRow,
        log_probs_of_batch,
        log_probs_of_tree,
        query_row,
    )
    from ais_prompt.models.huggingface.local_model import HuggingFaceBaseModel, HuggingFaceChatModel
    from ais_prompt.models.huggingface.next_tokens import Stops, completion_of
    from ais_prompt.models.huggingface.processor import MediaProcessor, video_decoder
    from ais_prompt.models.huggingface.reuse import Block, CachedPrefix, PrefixCache, Reuse, Tokens, block_of
    from ais_prompt.models.likelihood_completions import common_length
    from ais_prompt.models.model_options import (
        TEMPLATE_VARIABLES,
        Batching,
        Limits,
        Loading,
        Retry,
        Sampling,
        Wire,
        check_at_least,
    )
    from ais_prompt.models.scripted import ScriptedModel
    from ais_prompt.models.server.gpus import GpuPool, gpu_variable, visible_gpus
    from ais_prompt.models.server.instance import ServerInstance
    from ais_prompt.models.server.server_options import (
        HOST,
        PRESETS,
        ServerOptions,
        ServerToStart,
        read_server,
    )
    from ais_prompt.models.server.started import (
        AnnouncedServer,
        SharedServers,
        StartedServers,
        announced,
        announcements,
        list_of,
    )
    from ais_prompt.models.thoughts import (
        THINK_TAGS,
        THOUGHT_FORMS,
        answer_start,
        check_think_tags,
        has_thoughts,
        split_reasoning,
        unknown_opening,
    )
    from ais_prompt.models.tokenizer import (
        approximate_tokens,
        continuation,
        decode,
        estimate_tokens,
        is_at_hand,
        load_tokenizer,
        refuse_too_long,
        tokenizer_digests,
    )
    from ais_prompt.models.transport.base import Moments, Reply, Server, Sink, Transport, read_client
    from ais_prompt.models.transport.credentials import (
        DEFAULT_VARIABLE,
        check_variable_name,
        is_named_somewhere,
        is_variable,
        named_variable,
        read_key,
        request_headers,
        resolve_address,
        resolve_fields,
        resolve_headers,
    )
    from ais_prompt.models.transport.network import (
        allow_connections,
        check_address,
        check_environment,
        forget_connections,
        proxy_for,
        public_address,
        without_login,
    )
else:
    __getattr__, __dir__ = offered(__name__, "models")
