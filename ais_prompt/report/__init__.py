"""Show progress while a run lasts, and tables, files and pages when it is done."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.report.answer_reading import (
        LostAnswers,
        better_readings,
        describe,
        lost_answers,
        reasons_of,
    )
    from ais_prompt.report.estimates import estimate_lines, estimate_words, used_line
    from ais_prompt.report.frames import SAMPLE_COLUMNS, sample_rows, samples_table, scores_table, to_pandas
    from ais_prompt.report.language import counted, hint_in_language, label_language, labels, say, term
    from ais_prompt.report.matrix import print_matrix
    from ais_prompt.report.progress_board import RunProgress, run_progress
    from ais_prompt.report.score_notes import ALL, NAMED, names_of_tasks, summary_notes
    from ais_prompt.report.stored import StoredResults, StoredSample, StoredTask, read_stored_results, text_of_content
    from ais_prompt.report.summary import (
        LONG_HEADER,
        csv_lines,
        long_cells,
        markdown_cell,
        print_speed,
        print_summary,
        to_markdown,
        write_speed,
        write_summary,
    )
    from ais_prompt.report.tally import MANY, EndpointView, RunTally, Tally, duration
    from ais_prompt.report.web.assets import asset, finite_json
    from ais_prompt.report.web.breakdown import MOST_GROUPS, Breakdowns, context_samples, long_contexts
    from ais_prompt.report.web.further import ReportTab
    from ais_prompt.report.web.index import STATES, SampleIndex, json_text
    from ais_prompt.report.web.judgements import Judgement, judgement_places, read_judgements
    from ais_prompt.report.web.overview import overview
    from ais_prompt.report.web.pages import comparison_page, page_pieces, runs_page
    from ais_prompt.report.web.prompt_page import (
        prompt_html,
        prompts_page,
        prompts_part,
        questions_html,
        sample_prompts_html,
        side_by_side,
    )
    from ais_prompt.report.web.run_files import LiveRun, status_of, summary_of
    from ais_prompt.report.web.sample import SampleChunk
    from ais_prompt.report.web.sample_search import ORDERS, FoundSamples, Query, find
    from ais_prompt.report.web.served import ServedReport
    from ais_prompt.report.web.server import LOOPBACK, ReportServer, RunPage, report_of
    from ais_prompt.report.web.side_by_side import find_questions, verdict_of
    from ais_prompt.report.web.writer import forget_report, write_report
else:
    __getattr__, __dir__ = offered(__name__)
