"""Show progress while a run lasts, and tables, files and pages when it is done."""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.report.language import counted, hint_in_language, label_language, labels, say, term
    from ais_prompt.report.progress_board import RunProgress, run_progress
    from ais_prompt.report.score_notes import (
        ALL,
        NAMED,
        LostAnswers,
        better_readings,
        describe,
        lost_answers,
        names_of_tasks,
        reasons_of,
        summary_notes,
    )
    from ais_prompt.report.score_table import print_matrix
    from ais_prompt.report.stored import (
        SAMPLE_COLUMNS,
        StoredResults,
        StoredSample,
        StoredTask,
        read_stored_results,
        sample_rows,
        samples_table,
        scores_table,
        text_of_message,
        to_pandas,
    )
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
    from ais_prompt.report.tally import (
        MANY,
        EndpointView,
        RunTally,
        Tally,
        duration,
        estimate_lines,
        estimate_words,
        used_line,
    )
    from ais_prompt.report.web.assets import asset, finite_json
    from ais_prompt.report.web.breakdown import MOST_GROUPS, Breakdowns, context_samples, long_contexts
    from ais_prompt.report.web.index import (
        ORDERS,
        STATES,
        FoundSamples,
        Query,
        SampleIndex,
        find,
        find_questions,
        json_text,
        verdict_of,
    )
    from ais_prompt.report.web.overview import overview
    from ais_prompt.report.web.pages import comparison_page, forget_report, page_pieces, runs_page, write_report
    from ais_prompt.report.web.prompt_page import (
        prompt_html,
        prompts_page,
        prompts_part,
        questions_html,
        sample_prompts_html,
        side_by_side,
    )
    from ais_prompt.report.web.run_files import LiveRun, ReportTab, status_of, summary_of
    from ais_prompt.report.web.sample import Judgement, SampleChunk, judgement_places, read_judgements
    from ais_prompt.report.web.served import ServedReport
    from ais_prompt.report.web.server import LOOPBACK, ReportServer, RunPage, report_of
else:
    __getattr__, __dir__ = offered(__name__)
