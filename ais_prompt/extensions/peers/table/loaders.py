"""The classes of the peers that `BenchmarkDataset` has a layout for, by name; a test compares them with its layouts."""

from __future__ import annotations

from typing import Final

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
