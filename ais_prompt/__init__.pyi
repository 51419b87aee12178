"""The public names with their types. `python -m tools.reference` writes this file."""

from collections.abc import Callable
from typing import Any

from ais_prompt import errors as errors
from ais_prompt.checks.prompt_warning import PromptWarning as PromptWarning
from ais_prompt.comparison.compared_task import Comparison as Comparison
from ais_prompt.comparison.paired_runs import RunComparison as RunComparison
from ais_prompt.config.load import LoadedConfig as LoadedConfig
from ais_prompt.data.bm25 import BM25Retriever as BM25Retriever
from ais_prompt.data.by_position import FixKRetriever as FixKRetriever
from ais_prompt.data.by_position import RandomRetriever as RandomRetriever
from ais_prompt.data.by_position import SlidingWindowRetriever as SlidingWindowRetriever
from ais_prompt.data.by_position import ZeroRetriever as ZeroRetriever
from ais_prompt.data.encoders import CharacterNgramEncoder as CharacterNgramEncoder
from ais_prompt.data.encoders import Encoder as Encoder
from ais_prompt.data.encoders import HuggingFaceEncoder as HuggingFaceEncoder
from ais_prompt.data.hugging_face import HuggingFaceDataset as HuggingFaceDataset
from ais_prompt.data.local import LocalDataset as LocalDataset
from ais_prompt.data.reader import Reader as Reader
from ais_prompt.data.retriever import Retriever as Retriever
from ais_prompt.data.table import Table as Table
from ais_prompt.data.topk import TopkRetriever as TopkRetriever
from ais_prompt.errors import AisPromptError as AisPromptError
from ais_prompt.errors import ConfigError as ConfigError
from ais_prompt.errors import ConfigFaults as ConfigFaults
from ais_prompt.errors import DataError as DataError
from ais_prompt.errors import GoldError as GoldError
from ais_prompt.errors import InternalError as InternalError
from ais_prompt.errors import Interrupted as Interrupted
from ais_prompt.errors import MissingExtra as MissingExtra
from ais_prompt.errors import MissingGoldError as MissingGoldError
from ais_prompt.errors import ModelError as ModelError
from ais_prompt.errors import PartError as PartError
from ais_prompt.errors import Paused as Paused
from ais_prompt.errors import PromptError as PromptError
from ais_prompt.errors import ReadError as ReadError
from ais_prompt.errors import SandboxError as SandboxError
from ais_prompt.errors import StoreError as StoreError
from ais_prompt.errors import Terminated as Terminated
from ais_prompt.evaluators.accuracy import AccEvaluator as AccEvaluator
from ais_prompt.evaluators.accuracy import EDAccEvaluator as EDAccEvaluator
from ais_prompt.evaluators.accuracy import EMEvaluator as EMEvaluator
from ais_prompt.evaluators.accuracy import Gsm8kEvaluator as Gsm8kEvaluator
from ais_prompt.evaluators.base import BatchEvaluator as BatchEvaluator
from ais_prompt.evaluators.base import CorpusEvaluator as CorpusEvaluator
from ais_prompt.evaluators.base import Evaluator as Evaluator
from ais_prompt.evaluators.choices import AveragePPLEvaluator as AveragePPLEvaluator
from ais_prompt.evaluators.choices import ChoicesAccEvaluator as ChoicesAccEvaluator
from ais_prompt.evaluators.choices import ChoicesMassEvaluator as ChoicesMassEvaluator
from ais_prompt.evaluators.contained import BBHEvaluator as BBHEvaluator
from ais_prompt.evaluators.contained import ContainedAnswerEvaluator as ContainedAnswerEvaluator
from ais_prompt.evaluators.contained import ContainsEvaluator as ContainsEvaluator
from ais_prompt.evaluators.contained import FuzzyMatchEvaluator as FuzzyMatchEvaluator
from ais_prompt.evaluators.contained import LambadaEvaluator as LambadaEvaluator
from ais_prompt.evaluators.contained import OptionOrTextEvaluator as OptionOrTextEvaluator
from ais_prompt.evaluators.contained import StringMatchEvaluator as StringMatchEvaluator
from ais_prompt.evaluators.math import MATHVerifyEvaluator as MATHVerifyEvaluator
from ais_prompt.evaluators.squad import DropEvaluator as DropEvaluator
from ais_prompt.evaluators.squad import SquadEvaluator as SquadEvaluator
from ais_prompt.evaluators.structured import JsonEqualEvaluator as JsonEqualEvaluator
from ais_prompt.evaluators.structured import JsonSchemaEvaluator as JsonSchemaEvaluator
from ais_prompt.evaluators.structured import RegexEvaluator as RegexEvaluator
from ais_prompt.evaluators.text_overlap import BleuEvaluator as BleuEvaluator
from ais_prompt.evaluators.text_overlap import JiebaRougeEvaluator as JiebaRougeEvaluator
from ais_prompt.evaluators.text_overlap import RougeEvaluator as RougeEvaluator
from ais_prompt.extensions.agents.command_model import CommandModel as CommandModel
from ais_prompt.extensions.agents.called_agents import FunctionAgentModel
from ais_prompt.extensions.agents.called_agents import ServerAgentModel
from ais_prompt.extensions.agents.tool_loop import ToolLoopInferencer as ToolLoopInferencer
from ais_prompt.extensions.agents.trajectory_scores import StateEvaluator as StateEvaluator
from ais_prompt.extensions.agents.trajectory_scores import TrajectoryEvaluator as TrajectoryEvaluator
from ais_prompt.extensions.benchmarks.cards.catalog_dataset import CatalogDataset as CatalogDataset
from ais_prompt.extensions.benchmarks.circular import CircularEvaluator as CircularEvaluator
from ais_prompt.extensions.benchmarks.corpus import ChrfEvaluator as ChrfEvaluator
from ais_prompt.extensions.benchmarks.corpus import TerEvaluator as TerEvaluator
from ais_prompt.extensions.benchmarks.corpus import WerEvaluator as WerEvaluator
from ais_prompt.extensions.benchmarks.function_calls import ToolCallEvaluator as ToolCallEvaluator
from ais_prompt.extensions.benchmarks.instructions import InstructionEvaluator as InstructionEvaluator
from ais_prompt.extensions.benchmarks.layouts.layout_dataset import BenchmarkDataset as BenchmarkDataset
from ais_prompt.extensions.benchmarks.long_bench import (
    LongBenchClassificationEvaluator as LongBenchClassificationEvaluator,
)
from ais_prompt.extensions.benchmarks.long_bench import LongBenchCodeSimEvaluator as LongBenchCodeSimEvaluator
from ais_prompt.extensions.benchmarks.long_bench import LongBenchCountEvaluator as LongBenchCountEvaluator
from ais_prompt.extensions.benchmarks.long_bench import LongBenchRetrievalEvaluator as LongBenchRetrievalEvaluator
from ais_prompt.extensions.benchmarks.long_bench import LongBenchRougeEvaluator as LongBenchRougeEvaluator
from ais_prompt.extensions.benchmarks.mrcr import MrcrEvaluator as MrcrEvaluator
from ais_prompt.extensions.benchmarks.ruler.ruler_dataset import RulerDataset as RulerDataset
from ais_prompt.extensions.benchmarks.visual import AnlsEvaluator as AnlsEvaluator
from ais_prompt.extensions.benchmarks.visual import MmmuOpenEvaluator as MmmuOpenEvaluator
from ais_prompt.extensions.benchmarks.visual import OcrBenchEvaluator as OcrBenchEvaluator
from ais_prompt.extensions.benchmarks.visual import RelaxedAccuracyEvaluator as RelaxedAccuracyEvaluator
from ais_prompt.extensions.benchmarks.visual import RoundedNumberEvaluator as RoundedNumberEvaluator
from ais_prompt.extensions.benchmarks.visual import VqaAccuracyEvaluator as VqaAccuracyEvaluator
from ais_prompt.extensions.evidence.locks.drift import Drift as Drift
from ais_prompt.extensions.evidence.locks.for_programs import check_lock as check_lock
from ais_prompt.extensions.evidence.locks.for_programs import lock as lock
from ais_prompt.extensions.logs.rules import LoggedMatchEvaluator as LoggedMatchEvaluator
from ais_prompt.extensions.logs.rules import logged_choice as logged_choice
from ais_prompt.extensions.logs.rules import logged_letters as logged_letters
from ais_prompt.extensions.logs.rules import logged_marked_letter as logged_marked_letter
from ais_prompt.extensions.logs.rules import logged_math as logged_math
from ais_prompt.extensions.logs.rules import logged_regex as logged_regex
from ais_prompt.extensions.peers.code.evaluators import PeerCascadeEvaluator as PeerCascadeEvaluator
from ais_prompt.extensions.peers.code.evaluators import PeerEvaluator as PeerEvaluator
from ais_prompt.extensions.peers.code.judged import PeerJudgeEvaluator as PeerJudgeEvaluator
from ais_prompt.extensions.peers.code.parts import PeerDataset as PeerDataset
from ais_prompt.extensions.peers.code.parts import PeerRetriever as PeerRetriever
from ais_prompt.extensions.peers.postprocessors import cascade_verdict_peer as cascade_verdict_peer
from ais_prompt.extensions.peers.postprocessors import (
    extract_non_reasoning_content_peer as extract_non_reasoning_content_peer,
)
from ais_prompt.extensions.peers.postprocessors import (
    first_capital_postprocess_multi_peer as first_capital_postprocess_multi_peer,
)
from ais_prompt.extensions.peers.postprocessors import first_capital_postprocess_peer as first_capital_postprocess_peer
from ais_prompt.extensions.peers.postprocessors import first_number_postprocess_peer as first_number_postprocess_peer
from ais_prompt.extensions.peers.postprocessors import first_option_postprocess_peer as first_option_postprocess_peer
from ais_prompt.extensions.peers.postprocessors import general_postprocess_peer as general_postprocess_peer
from ais_prompt.extensions.peers.postprocessors import (
    generic_llmjudge_postprocess_peer as generic_llmjudge_postprocess_peer,
)
from ais_prompt.extensions.peers.postprocessors import gsm8k_postprocess_peer as gsm8k_postprocess_peer
from ais_prompt.extensions.peers.postprocessors import humaneval_postprocess_v2_peer as humaneval_postprocess_v2_peer
from ais_prompt.extensions.peers.postprocessors import humaneval_postprocess_v3_peer as humaneval_postprocess_v3_peer
from ais_prompt.extensions.peers.postprocessors import last_capital_postprocess_peer as last_capital_postprocess_peer
from ais_prompt.extensions.peers.postprocessors import last_letter_verdict_peer as last_letter_verdict_peer
from ais_prompt.extensions.peers.postprocessors import last_option_postprocess_peer as last_option_postprocess_peer
from ais_prompt.extensions.peers.postprocessors import math_postprocess_peer as math_postprocess_peer
from ais_prompt.extensions.peers.postprocessors import math_postprocess_v2_peer as math_postprocess_v2_peer
from ais_prompt.extensions.peers.postprocessors import (
    multiple_select_postprocess_peer as multiple_select_postprocess_peer,
)
from ais_prompt.extensions.peers.postprocessors import whole_verdict_peer as whole_verdict_peer
from ais_prompt.extensions.peers.repeats import PeerRepeatEvaluator as PeerRepeatEvaluator
from ais_prompt.extensions.peers.simulated_calls import SimulatedCallsEvaluator as SimulatedCallsEvaluator
from ais_prompt.extensions.peers.simulated_calls import SimulatedToolCallInferencer as SimulatedToolCallInferencer
from ais_prompt.extensions.peers.triton import TritonModel as TritonModel
from ais_prompt.extensions.perf.load_rows import LoadRowsDataset as LoadRowsDataset
from ais_prompt.extensions.perf.synthetic import SyntheticDataset as SyntheticDataset
from ais_prompt.extensions.perf.traces import MooncakeTraceDataset as MooncakeTraceDataset
from ais_prompt.extensions.programs.agent import AgentInferencer as AgentInferencer
from ais_prompt.extensions.programs.big_code import BigCodeBenchEvaluator as BigCodeBenchEvaluator
from ais_prompt.extensions.programs.evaluator import HumanEvalEvaluator as HumanEvalEvaluator
from ais_prompt.extensions.programs.evaluator import MBPPEvaluator as MBPPEvaluator
from ais_prompt.extensions.programs.live_code import LiveCodeBenchEvaluator as LiveCodeBenchEvaluator
from ais_prompt.extensions.programs.live_code import live_code_bench_postprocess as live_code_bench_postprocess
from ais_prompt.extensions.programs.written_programs import humaneval_postprocess_v2 as humaneval_postprocess_v2
from ais_prompt.extensions.programs.written_programs import humaneval_postprocess_v3 as humaneval_postprocess_v3
from ais_prompt.extensions.programs.written_programs import mbpp_postprocess as mbpp_postprocess
from ais_prompt.extensions.rubrics.rubric import RubricEvaluator as RubricEvaluator
from ais_prompt.extensions.shards.local_shards import LocalRunner as LocalRunner
from ais_prompt.extensions.shards.partitioners import NumWorkerPartitioner as NumWorkerPartitioner
from ais_prompt.extensions.shards.partitioners import SizePartitioner as SizePartitioner
from ais_prompt.extensions.shards.ray import RayRunner as RayRunner
from ais_prompt.extensions.shards.slurm import SlurmRunner as SlurmRunner
from ais_prompt.inferencers import InferenceContext as InferenceContext
from ais_prompt.inferencers import Preview as Preview
from ais_prompt.inferencers.base import Inferencer as Inferencer
from ais_prompt.inferencers.gen import GenInferencer as GenInferencer
from ais_prompt.inferencers.likelihoods import ChoicesInferencer as ChoicesInferencer
from ais_prompt.inferencers.likelihoods import CLPInferencer as CLPInferencer
from ais_prompt.inferencers.likelihoods import LLInferencer as LLInferencer
from ais_prompt.inferencers.likelihoods import PPLInferencer as PPLInferencer
from ais_prompt.inferencers.likelihoods import PPLOnlyInferencer as PPLOnlyInferencer
from ais_prompt.inferencers.multi_turn import ChatInferencer as ChatInferencer
from ais_prompt.inferencers.multi_turn import MultiTurnGenInferencer as MultiTurnGenInferencer
from ais_prompt.inferencers.tool_calls import MultiTurnToolCallInferencer as MultiTurnToolCallInferencer
from ais_prompt.inferencers.tool_calls import ToolCallInferencer as ToolCallInferencer
from ais_prompt.judges.judge_evaluators import CascadeEvaluator as CascadeEvaluator
from ais_prompt.judges.judge_evaluators import GenericLLMEvaluator as GenericLLMEvaluator
from ais_prompt.judges.judge_evaluators import LLMRatingEvaluator as LLMRatingEvaluator
from ais_prompt.judges.judge_evaluators import PairwiseEvaluator as PairwiseEvaluator
from ais_prompt.judges.replies import generic_llmjudge_postprocess as generic_llmjudge_postprocess
from ais_prompt.judges.replies import judge_rating_postprocess as judge_rating_postprocess
from ais_prompt.metrics.aggregate import AnswerCounts as AnswerCounts
from ais_prompt.metrics.aggregate import mean_scores as mean_scores
from ais_prompt.models.api.messages import AnthropicModel as AnthropicModel
from ais_prompt.models.api.openai_models import OpenAIChatModel as OpenAIChatModel
from ais_prompt.models.api.openai_models import OpenAICompletionModel as OpenAICompletionModel
from ais_prompt.models.api.openai_models import OpenAIResponsesModel as OpenAIResponsesModel
from ais_prompt.models.base import AsyncModel as AsyncModel
from ais_prompt.models.base import BatchModel as BatchModel
from ais_prompt.models.base import LikelihoodModel as LikelihoodModel
from ais_prompt.models.base import Model as Model
from ais_prompt.models.function import FunctionModel as FunctionModel
from ais_prompt.models.huggingface.local_model import HuggingFaceBaseModel as HuggingFaceBaseModel
from ais_prompt.models.huggingface.local_model import HuggingFaceChatModel as HuggingFaceChatModel
from ais_prompt.models.model_options import Batching as Batching
from ais_prompt.models.model_options import Limits as Limits
from ais_prompt.models.model_options import Loading as Loading
from ais_prompt.models.model_options import Retry as Retry
from ais_prompt.models.model_options import Sampling as Sampling
from ais_prompt.models.model_options import Wire as Wire
from ais_prompt.models.scripted import ScriptedModel as ScriptedModel
from ais_prompt.models.transport.base import Reply as Reply
from ais_prompt.models.transport.base import Server as Server
from ais_prompt.models.transport.base import Transport as Transport
from ais_prompt.postprocess.chosen_option import first_option_postprocess as first_option_postprocess
from ais_prompt.postprocess.chosen_option import last_option_postprocess as last_option_postprocess
from ais_prompt.postprocess.chosen_option import multiple_select_postprocess as multiple_select_postprocess
from ais_prompt.postprocess.dates import date_postprocess as date_postprocess
from ais_prompt.postprocess.general import first_number_postprocess as first_number_postprocess
from ais_prompt.postprocess.general import general_postprocess as general_postprocess
from ais_prompt.postprocess.general import last_number_postprocess as last_number_postprocess
from ais_prompt.postprocess.label_words import label_postprocess as label_postprocess
from ais_prompt.postprocess.math import math_dataset_postprocess as math_dataset_postprocess
from ais_prompt.postprocess.math import math_postprocess_v2 as math_postprocess_v2
from ais_prompt.postprocess.numbers import gsm8k_dataset_postprocess as gsm8k_dataset_postprocess
from ais_prompt.postprocess.numbers import gsm8k_postprocess as gsm8k_postprocess
from ais_prompt.postprocess.phrases import after_phrase_postprocess as after_phrase_postprocess
from ais_prompt.postprocess.phrases import bbh_freeform_postprocess as bbh_freeform_postprocess
from ais_prompt.postprocess.phrases import bbh_mcq_postprocess as bbh_mcq_postprocess
from ais_prompt.postprocess.phrases import extract_non_reasoning_content as extract_non_reasoning_content
from ais_prompt.postprocess.phrases import first_capital_postprocess as first_capital_postprocess
from ais_prompt.postprocess.phrases import first_capital_postprocess_multi as first_capital_postprocess_multi
from ais_prompt.postprocess.phrases import first_line_postprocess as first_line_postprocess
from ais_prompt.postprocess.phrases import general_cn_postprocess as general_cn_postprocess
from ais_prompt.postprocess.phrases import gsm100_postprocess as gsm100_postprocess
from ais_prompt.postprocess.phrases import last_capital_postprocess as last_capital_postprocess
from ais_prompt.postprocess.phrases import match_answer_pattern as match_answer_pattern
from ais_prompt.postprocess.phrases import mathbench_postprocess as mathbench_postprocess
from ais_prompt.postprocess.phrases import mgsm_postprocess as mgsm_postprocess
from ais_prompt.postprocess.phrases import strategyqa_dataset_postprocess as strategyqa_dataset_postprocess
from ais_prompt.postprocess.phrases import strategyqa_pred_postprocess as strategyqa_pred_postprocess
from ais_prompt.postprocess.phrases import without_commas_postprocess as without_commas_postprocess
from ais_prompt.postprocess.phrases import xml_tag_postprocessor as xml_tag_postprocessor
from ais_prompt.postprocess.written_calls import tool_calls_postprocess as tool_calls_postprocess
from ais_prompt.postprocess.written_json import json_postprocess as json_postprocess
from ais_prompt.preview.preview import PromptView as PromptView
from ais_prompt.prompts import PromptList as PromptList
from ais_prompt.prompts.base import Template as Template
from ais_prompt.prompts.chat_formats import ChatMLTemplate as ChatMLTemplate
from ais_prompt.prompts.chat_formats import GrammarErrorCorrectionTemplate as GrammarErrorCorrectionTemplate
from ais_prompt.prompts.chat_formats import Llama2ChatTemplate as Llama2ChatTemplate
from ais_prompt.prompts.chat_formats import MistralChatTemplate as MistralChatTemplate
from ais_prompt.prompts.chat_formats import QuestionAnswerTemplate as QuestionAnswerTemplate
from ais_prompt.prompts.chat_formats import RoleTemplate as RoleTemplate
from ais_prompt.prompts.chat_formats import RoleTemplateInterface as RoleTemplateInterface
from ais_prompt.prompts.chat_formats import SummarizeTemplate as SummarizeTemplate
from ais_prompt.prompts.dialogue_template import MultiTurnPromptTemplate as MultiTurnPromptTemplate
from ais_prompt.prompts.multimodal import MMPromptTemplate as MMPromptTemplate
from ais_prompt.prompts.raw import RawPromptTemplate as RawPromptTemplate
from ais_prompt.prompts.template import PromptTemplate as PromptTemplate
from ais_prompt.registry import ENCODERS as ENCODERS
from ais_prompt.registry import EVALUATORS as EVALUATORS
from ais_prompt.registry import INFERENCERS as INFERENCERS
from ais_prompt.registry import MODELS as MODELS
from ais_prompt.registry import PARTITIONERS as PARTITIONERS
from ais_prompt.registry import POSTPROCESSORS as POSTPROCESSORS
from ais_prompt.registry import READERS as READERS
from ais_prompt.registry import RETRIEVERS as RETRIEVERS
from ais_prompt.registry import RUNNERS as RUNNERS
from ais_prompt.registry import TEMPLATES as TEMPLATES
from ais_prompt.registry import TRANSPORTS as TRANSPORTS
from ais_prompt.scoring.rows import Row as Row
from ais_prompt.types import Activity as Activity
from ais_prompt.types import ChatMessage as ChatMessage
from ais_prompt.types import Completion as Completion
from ais_prompt.types import Decoding as Decoding
from ais_prompt.types import Extraction as Extraction
from ais_prompt.types import Failure as Failure
from ais_prompt.types import Likelihood as Likelihood
from ais_prompt.types import LikelihoodQuery as LikelihoodQuery
from ais_prompt.types import Prediction as Prediction
from ais_prompt.types import Request as Request
from ais_prompt.types import Sample as Sample
from ais_prompt.types import SampleScore as SampleScore
from ais_prompt.types import Score as Score
from ais_prompt.types import Usage as Usage
from ais_prompt.verbs.api import check as check
from ais_prompt.verbs.api import compare as compare
from ais_prompt.verbs.api import load_config as load_config
from ais_prompt.verbs.api import render_prompts as render_prompts
from ais_prompt.verbs.api import run as run
from ais_prompt.verbs.check import CheckResult as CheckResult
from ais_prompt.verbs.evaluate import evaluate as evaluate
from ais_prompt.verbs.keywords import ConfigOptions as ConfigOptions
from ais_prompt.verbs.keywords import RunOptions as RunOptions
from ais_prompt.verbs.open_run import Run as Run
from ais_prompt.verbs.open_run import open_run as open_run

__version__: str
__all__: list[str]
HumanEvaluator: Callable[..., Any]
MATHEvaluator: Callable[..., Any]
PeerPostprocessor: Callable[..., Any]

def __dir__() -> list[str]: ...
