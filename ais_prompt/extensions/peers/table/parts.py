"""Templates, retrievers, inferencers, postprocessors and dataset classes of the peers."""

from __future__ import annotations

from typing import Any, Final

from ais_prompt.extensions.peers.table.row import PartRow

_BATCHES: Final = "requests are sent as the model's max_concurrency allows"
_LENGTH: Final = "prompts that are too long for the model are refused, not cut"
_FILES: Final = "predictions are files of the run folder"

_OF_MESSAGES: Final = "messages with tools are sent as they are"
_NO_EFFECT: Final = "it has no effect there either: sampling is an option of the model"

_SHARED: Final = {
    "batch_size": _BATCHES,
    "do_sample": _NO_EFFECT,
    "generation_kwargs": _NO_EFFECT,
    "labels": "it has no effect there either",
    "temperature": _NO_EFFECT,
    "max_seq_len": _LENGTH,
    "output_json_filepath": _FILES,
    "output_json_filename": _FILES,
    "save_every": _FILES,
}

_PPL: Final = {**_SHARED, "max_out_len": "it has no effect there either"}
_OF_ALL_TOKENS: Final = {"normalization": "all_tokens"}
"""OpenCompass divides the sum by the number of all tokens, the first of which has no log-likelihood."""

_NORMALIZED: Final = "sentence-transformers/all-"
"""Encoders that scale their vectors themselves."""


def _with_encoder(args: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a `TopkRetriever` with the encoder that the peer loads, unless they name one."""
    name = str(args.pop("sentence_transformers_model_name", "all-mpnet-base-v2"))
    path = name if "/" in name else f"sentence-transformers/{name}"
    return {"encoder": {"type": "HuggingFaceEncoder", "path": path, "normalize": path.startswith(_NORMALIZED)}, **args}


TEMPLATES: Final = (
    PartRow("PromptTemplate", "PromptTemplate"),
    PartRow("RawPromptTemplate", "RawPromptTemplate"),
    PartRow("MMPromptTemplate", "MMPromptTemplate"),
    PartRow("MultiTurnPromptTemplate", "MultiTurnPromptTemplate"),
)

RETRIEVERS: Final = (
    PartRow("ZeroRetriever", "ZeroRetriever"),
    PartRow("FixKRetriever", "FixKRetriever"),
    PartRow("RandomRetriever", "RandomRetriever"),
    PartRow("BM25Retriever", "BM25Retriever"),
    PartRow("SlidingWindowRetriever", "SlidingWindowRetriever"),
    PartRow(
        "TopkRetriever",
        "TopkRetriever",
        drop={"tokenizer_name": "the encoder has its own tokenizer", "batch_size": "texts are encoded in batches"},
        change=_with_encoder,
    ),
)

_MULTIROUND: Final = PartRow(
    "GenInferencer",
    "ChatInferencer",
    drop={**_SHARED, "multiround": "an inferencer of its own asks many turns"},
    add={"infer_mode": "every"},
    differs="every turn of the assistant is asked, also one that has a text already",
)

CONVERSATION: Final = "conversation"
"""Argument that a translation adds to an inferencer of BFCL for a category of several turns."""
_BFCL: Final = {
    **_SHARED,
    "gen_field_replace_token": _OF_MESSAGES,
    "mode": "speed is always measured",
    "model_cfg": "the model is that of the run",
    "stopping_criteria": _OF_MESSAGES,
}
_TOOLS_AS_FIELDS: Final = (
    "tools are fields of the request, as there with returns_tool_calls=True; without it, the system prompt describes "
    "them there"
)


def _without_mark(args: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in args.items() if name != CONVERSATION}


INFERENCERS: Final = (
    PartRow(
        "GenInferencer",
        "GenInferencer",
        drop={**_SHARED, "multiround": "an inferencer of its own asks many turns"},
        instead={"multiround": _MULTIROUND},
    ),
    PartRow(
        "SCInferencer",
        "GenInferencer",
        rename={"sc_size": "n"},
        drop={
            **_SHARED,
            "infer_type": "it has no effect there either",
            "generation_kwargs": "sampling is an option of the model",
        },
        differs="the score of the majority is the row cons@n",
    ),
    PartRow(
        "AgentInferencer",
        "AgentInferencer",
        drop={
            **_SHARED,
            "example": "it has no effect there either",
            "infer_mode": "the last question of a chat is asked",
            "max_out_len": "lagent always asks for 512 tokens",
        },
        unless={"infer_mode": ("every", "every_with_gt")},
    ),
    PartRow("PPLInferencer", "PPLInferencer", drop=_PPL),
    PartRow("PPLInferencer", "PPLInferencer", module="opencompass", drop=_PPL, add=_OF_ALL_TOKENS),
    PartRow("PPLOnlyInferencer", "PPLOnlyInferencer", module="opencompass", drop=_SHARED, add=_OF_ALL_TOKENS),
    PartRow("CLPInferencer", "CLPInferencer", drop=_SHARED),
    PartRow("LLInferencer", "LLInferencer", drop=_SHARED, add={"continuation_in_prompt": True}),
    PartRow("ChatInferencer", "ChatInferencer", drop=_SHARED),
    PartRow("MultiTurnGenInferencer", "MultiTurnGenInferencer", drop=_SHARED),
    PartRow(
        "BFCLV3FunctionCallInferencer",
        "ToolCallInferencer",
        drop=_BFCL,
        instead={
            CONVERSATION: PartRow(
                "BFCLV3FunctionCallInferencer",
                "SimulatedToolCallInferencer",
                drop=_BFCL,
                change=_without_mark,
                differs=_TOOLS_AS_FIELDS,
            )
        },
        differs=_TOOLS_AS_FIELDS,
    ),
)


_OTHER: Final = "it finds the answer in more phrasings than the peer's function, so scores can be higher"


_LATIN: Final = "only A to Z count; there capitals of every script do"


_BLANKS: Final = "blanks at the ends of the line are left out"


_CUT: Final = "nothing is found in an answer that ends inside of a thought"


_DENIED: Final = "nothing is found in an answer that ends inside of a thought, nor where the answer is denied"


def _row(name: str, differs: str = _OTHER) -> PartRow:
    return PartRow(name, name, differs=differs, exact=f"{name}_peer")


POSTPROCESSORS: Final = (
    PartRow("extract_non_reasoning_content", "extract_non_reasoning_content_peer"),
    _row("first_capital_postprocess", _LATIN),
    _row("last_capital_postprocess", _LATIN),
    PartRow("gsm8k_dataset_postprocess", "gsm8k_dataset_postprocess"),
    PartRow(
        "GPQA_Simple_Eval_postprocess",
        "match_answer_pattern",
        add={"answer_pattern": r"(?i)ANSWER\s*:\s*([A-D])"},
        differs=_DENIED,
    ),
    PartRow("ReCoRD_postprocess", "first_line_postprocess", add={"remove": ("Answer: ",)}, differs=_CUT),
    PartRow("Xsum_postprocess", "first_line_postprocess", differs=_CUT),
    PartRow("bbh_freeform_postprocess", "bbh_freeform_postprocess", differs=_CUT),
    PartRow(
        "bbh_freeform_postprocess",
        "bbh_freeform_postprocess",
        module="ais_bench",
        differs="it also removes commas, and what follows yes or no",
    ),
    PartRow("bbh_mcq_postprocess", "bbh_mcq_postprocess", differs=_CUT),
    PartRow("cmrc_postprocess", "after_phrase_postprocess", differs=_CUT),
    PartRow("drcd_postprocess", "after_phrase_postprocess", differs=_CUT),
    PartRow("general_cn_postprocess", "general_cn_postprocess", differs=_CUT),
    PartRow("gsm100_dataset_postprocess", "without_commas_postprocess"),
    PartRow("gsm100_postprocess", "gsm100_postprocess", differs=_CUT),
    PartRow(
        "lcsts_postprocess", "first_line_postprocess", add={"remove": ("1. ", "- "), "strip": "“，。！”"}, differs=_CUT
    ),
    PartRow("lsht_postprocess", "first_line_postprocess", differs=_BLANKS),
    PartRow("match_answer_pattern", "match_answer_pattern", differs=_DENIED),
    PartRow(
        "math_judement_preprocess",
        "match_answer_pattern",
        add={"answer_pattern": r"(?i)ANSWER\s*:\s*([^\n]+)"},
        differs=_DENIED,
    ),
    PartRow("mathbench_postprocess", "mathbench_postprocess", differs=_CUT),
    PartRow("mgsm_postprocess", "mgsm_postprocess", differs=_CUT),
    PartRow("samsum_postprocess", "first_line_postprocess", differs=_BLANKS),
    PartRow("strategyqa_dataset_postprocess", "strategyqa_dataset_postprocess"),
    PartRow("strategyqa_pred_postprocess", "strategyqa_pred_postprocess", differs=_DENIED),
    PartRow("trec_postprocess", "first_line_postprocess", differs=_BLANKS),
    PartRow("triviaqa_postprocess", "first_line_postprocess", differs=_BLANKS),
    PartRow("xml_tag_postprocessor", "xml_tag_postprocessor", differs=_CUT),
    PartRow("humaneval_postprocess", "humaneval_postprocess_v2", differs=_OTHER, exact="humaneval_postprocess_v2_peer"),
    PartRow("math_postprocess", "math_postprocess_v2", differs=_OTHER, exact="math_postprocess_peer"),
    _row("first_capital_postprocess_multi"),
    _row("first_number_postprocess"),
    _row("first_option_postprocess"),
    _row("general_postprocess"),
    _row("generic_llmjudge_postprocess"),
    _row("gsm8k_postprocess"),
    _row("humaneval_postprocess_v2"),
    _row("humaneval_postprocess_v3"),
    _row("last_option_postprocess"),
    _row("math_postprocess_v2"),
    _row("multiple_select_postprocess"),
)


_DROPPED: Final = {
    "local_mode": "data are looked up in the same places in either mode",
    "mode": "no loader of this layout reads it",
    "trust_remote_code": "code of a dataset is never run",
}

# fmt: off
LOADERS: Final = (
    "ARCDataset", "CEvalDataset", "CMMLUDataset", "ChemBenchDataset", "CommonsenseQADataset_CN",
    "Earth_Silver_MCQDataset", "FinanceIQDataset", "GPQADataset", "GPQASimpleEvalDataset", "HLEDataset",
    "KCLEDataset", "MMLUArabicDataset", "MMLUDataset", "MMLUProDataset", "MMMLUDataset", "OBQADataset",
    "OBQADatasetV2", "RBenchDataset", "commonsenseqaDataset", "AGIEvalDataset_v2", "Aime2024Dataset",
    "Aime2025Dataset", "Aime2026Dataset", "BBHDataset", "BeyondAIMEDataset", "CMOFibDataset",
    "CompassBenchObjectiveV1_3", "CustomDataset", "GSMHardDataset", "GSM8KDataset", "HFDataset", "HumanevalDataset",
    "JsonlDataset", "LiveStemBenchDataset", "MATHDataset", "MBPPDataset", "MBPPDatasetV2", "MBPPPlusDataset",
    "MGSMSDataset", "MathBenchDataset", "OlymMATHDataset", "SVAMPDataset", "SanitizedMBPPDataset",
    "WikiBenchDataset", "COPADatasetV2", "CrowspairsDataset", "CrowspairsDatasetCN", "CrowspairsDatasetV2",
    "HellaswagDataset", "HellaswagDataset_V2", "HellaswagDataset_V3", "HellaswagDatasetwithICE", "PIQADataset",
    "PIQADatasetV2", "PIQADatasetV3", "SiqaDatasetV3", "StoryClozeDataset", "StoryClozeDatasetV2",
    "WinogradDataset", "WinograndeDataset", "WinograndeDatasetV2", "WinograndeDatasetV3", "siqaDataset",
    "siqaDataset_V2", "BoolQDataset", "BoolQDatasetV2", "BoolQDatasetV3", "C3Dataset", "C3Dataset_V2",
    "CMRCDataset", "DRCDDataset", "DropOpenAIDataset", "LCSTSDataset", "MultiRCDataset", "MultiRCDatasetV2",
    "NQOpenDataset", "NaturalQuestionDataset", "NaturalQuestionDatasetCN", "QASPERCUTDataset", "QASPERDataset",
    "RaceDataset", "ReCoRDDataset", "ReCoRDDatasetV2", "StrategyQADataset", "SummeditsDataset_V2",
    "TriviaQADataset", "TriviaQADatasetV2", "TriviaQADatasetV3", "XsumDataset", "dropDataset", "lambadaDataset",
    "AFQMCDatasetV2", "AXDatasetV2", "AnliDataset", "CBDatasetV2", "CHIDDataset", "CHIDDatasetV2", "CMNLIDataset",
    "CMNLIDatasetV2", "CluewscDataset", "CluewscDatasetV2", "CslDataset", "CslDatasetV2", "EprstmtDatasetV2",
    "TNewsDataset", "TNewsDatasetV2", "WSCDataset", "WSCDatasetV2", "WSCDatasetV3", "WiCDataset", "WiCDatasetV2",
    "bustumDataset_V2", "LongBench2wikimqaDataset", "LongBenchdureaderDataset", "LongBenchhotpotqaDataset",
    "LongBenchmultifieldqa_enDataset", "LongBenchmultifieldqa_zhDataset", "LongBenchmusiqueDataset",
    "LongBenchnarrativeqaDataset", "LongBenchpassage_retrieval_enDataset", "LongBenchpassage_retrieval_zhDataset",
    "LongBenchqasperDataset", "LongBenchqmsumDataset", "LongBenchrepobenchDataset", "LongBenchsamsumDataset",
    "LongBenchtriviaqaDataset", "LongBenchgov_reportDataset", "LongBenchlccDataset", "LongBenchmulti_newsDataset",
    "LongBenchpassage_countDataset", "LongBenchvcsumDataset", "LongBenchlshtDataset", "LongBenchtrecDataset",
    "LEvalCourseraDataset", "LEvalGSM100Dataset", "LEvalSciFiDataset", "LEvalTPODataset",
    "LEvalTopicRetrievalDataset", "LEvalFinancialQADataset", "LEvalGovReportSummDataset",
    "LEvalLegalContractQADataset", "LEvalMeetingSummDataset", "LEvalMultidocQADataset", "LEvalNarrativeQADataset",
    "LEvalNaturalQuestionDataset", "LEvalNewsSummDataset", "LEvalPaperAssistantDataset", "LEvalPatentSummDataset",
    "LEvalReviewSummDataset", "LEvalScientificQADataset", "LEvalTVShowSummDataset", "LEvalQualityDataset",
    "BFCLDataset",
)
# fmt: on
"""The classes of the peers that `BenchmarkDataset` has a layout for, by name; a test compares them with its layouts."""
_OPENCOMPASS: Final = ("CustomDataset", "HLEDataset")
"""Classes of which AISBench has others of the same name: it reads a file of options, or other columns."""


def _module(name: str) -> str:
    return "opencompass" if name in _OPENCOMPASS else ""


_IN_PACKAGES: Final = {"BFCLDataset": {"path": {"": "bfcl_eval/data"}}}
"""Class → argument → what its value means, where it means the data of an installed package."""


DATASETS: Final = (
    PartRow(
        "CustomDataset", "LoadRowsDataset", module="ais_bench", drop=_DROPPED, differs="rows are drawn with a seed"
    ),
    PartRow(
        "MooncakeTraceDataset",
        "MooncakeTraceDataset",
        rename={"model_path": "tokenizer_path"},
        drop={"generated_prompts_path": "prompts are made again, the same for the same seed"},
        differs="texts are made of words",
    ),
    PartRow(
        "SyntheticDataset",
        "SyntheticDataset",
        rename={"model_path": "tokenizer_path"},
        drop={"path": "the rows are made"},
        differs="lengths and texts are drawn with a seed",
    ),
    *(
        PartRow(
            name,
            "BenchmarkDataset",
            module=_module(name),
            add={"loader": name},
            drop=_DROPPED,
            values=_IN_PACKAGES.get(name, {}),
        )
        for name in LOADERS
    ),
)
