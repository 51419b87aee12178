"""Every method of every protocol breaks in turn: only its own sample or task fails, and the user's line is named."""

from __future__ import annotations

import ast
import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import ais_prompt
from ais_prompt.catalog import PROTOCOLS
from ais_prompt.checks import checked
from ais_prompt.cli import main
from ais_prompt.config import Options
from ais_prompt.errors import AisPromptError, InternalError
from ais_prompt.parts import members
from ais_prompt.plan import Plan, Runner
from ais_prompt.registry import import_dotted
from ais_prompt.store import RunFolder
from ais_prompt.verbs import RunResult, Session
from ais_prompt.verbs import run as pipeline
from tests.support import breakable
from tests.support.breakable import PLAN
from tests.support.parts import write_rows

pytestmark = pytest.mark.thorough


PARTS = {
    "models": ("AsyncModel", "BatchModel"),
    "transports": ("Transport",),
    "readers": ("Reader",),
    "retrievers": ("Retriever",),
    "encoders": ("Encoder",),
    "templates": ("Template", "MultiTurnTemplate"),
    "inferencers": ("Inferencer", "MultiTurnInferencer"),
    "evaluators": ("Evaluator", "Corpus", "Judged", "Paired", "Batch", "JudgedBatch", "Repeated"),
    "partitioners": ("Partitioner",),
    "runners": ("Runner",),
}
"""Kind of part → the breakable parts, which have all members of its protocols between them."""

OUR_OWN = {
    *("AgentModel", "Asker", "BatchService", "BringsFiles", "GathersRequests"),  # of shipped models
    *("AsksInParts", "HasJudgePrompt", "ReadsTokens", "PerformsRequests"),  # of shipped evaluators and inferencers
    "RunPage",  # what an extension shows
    "Benchmark",  # what a step of an extension returns
    "Log",  # what a format of logs is given
    "Audit",  # what a step of an extension finds
    *("ChatFormat", "Display", "MessagesFormat"),
    *("OpenProgress", "Progress", "Watch", "WireFormat"),
    *("Draft", "Maker", "TokenCounter"),  # of one reader, `RulerDataset`
    *("ChecksArguments", "ComparesTexts", "KeepsShots", "KnowsStopTokens", "SendsFields"),  # members of shipped parts
    "SendsBodies",  # what a prompt viewer shows of shipped models
    *("HasTokenizerPath", "ServedModel", "StartsServer"),  # attributes of models that are shown, or are part of a key
    *("OffersTools", "RunsPrograms"),  # of shipped inferencers and evaluators
    "YieldsAnswers",  # of local models, which hand back each answer as it ends
    *("ChecksRequests", "LimitsStops"),  # of shipped models, before anything is asked
    "HasAccount",  # separates limits
    "GeneratingInferencer",  # an attribute that shipped inferencers have
    *("AcceptsSilence", "DoubtsGolds", "ScoresMeasures"),  # of evaluators for which some golds are special
    "RoleTemplateInterface",  # called in one place, `RoleTemplateFormat`
}
"""Protocols that no part of a config has to follow."""

FUNCTIONS = ("answer_of", "gold_of", "same")

ERRORS = (RuntimeError, asyncio.CancelledError, KeyboardInterrupt, GeneratorExit, SystemExit, MemoryError)
"""What parts raise, in turn: time limits end calls with the second, command line programs with the fifth."""

NOT_CALLED = {
    # The display of a terminal, and of a log after ten seconds; `test_guard.py` has what becomes of it.
    ("AsyncModel", "activity"),
    ("AsyncModel", "tokenizer"),  # only where there is `encode` too
    *(("BatchModel", member) for member in ("activity", "open", "complete", "aclose")),  # for single requests
    ("BatchModel", "media_kinds"),  # only for prompts with media
    ("MultiTurnTemplate", "check_ice_token"),  # only where there are examples
    ("BatchModel", "count_tokens"),  # only to keep to a max_seq_len
    ("MultiTurnTemplate", "render"),  # dialogues are asked turn by turn, without examples
    ("MultiTurnTemplate", "render_example"),
    ("Evaluator", "same_answer"),  # only for answers that differ; `test_own.py` has it
    *((part, "same_answer") for part in ("Corpus", "Batch", "JudgedBatch", "Repeated")),
}
"""Members that a part has but that nothing calls in these runs."""

CASES = [
    (part, member)
    for kind, parts in PARTS.items()
    if kind not in ("partitioners", "runners")  # of the whole command: `test_a_runner_that_breaks_…`
    for part in parts
    for member in dict.fromkeys(
        name
        for path in PROTOCOLS[kind]
        for name in members(import_dotted(path))
        # type: ignore[arg-type]
    )
    if member in vars(getattr(breakable, part)) and (part, member) not in NOT_CALLED
] + [(name, "call") for name in FUNCTIONS]


def test_every_member_of_every_protocol_has_a_part_to_break() -> None:
    for kind, paths in PROTOCOLS.items():
        for path in paths:
            for member in members(import_dotted(path)):  # type: ignore[arg-type]
                assert any(member in vars(getattr(breakable, part)) for part in PARTS[kind]), (kind, member)


def test_every_protocol_is_that_of_a_part_or_our_own() -> None:
    root = Path(ais_prompt.__file__).parent
    named = {path for paths in PROTOCOLS.values() for path in paths}
    for file in (file for file in root.rglob("*.py") if "testing" not in file.parts):
        text = file.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "Protocol" in text else ():
            if isinstance(node, ast.ClassDef) and any(
                isinstance(b, ast.Name) and b.id == "Protocol" for b in node.bases
            ):
                module = ".".join(file.relative_to(root.parent).with_suffix("").parts)
                assert f"{module}.{node.name}" in named or node.name in OUR_OWN, f"{module}.{node.name}"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(breakable.TEST_PROCESS, str(os.getpid()))
    PLAN.target, PLAN.hits, PLAN.error = None, 0, RuntimeError
    for split, numbers in (("train", range(10, 12)), ("test", range(4))):
        rows = [{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in numbers]
        write_rows(tmp_path / "sums" / f"{split}.jsonl", rows)
    yield tmp_path / "eval.py"
    PLAN.target = None


def written(config: Path, part: str, *, labels: bool) -> str:
    """Write a config with the part in it, and a model or dataset without it; the name of the part's class."""
    kinds = {
        "reader": "LocalDataset",
        "template": "PromptTemplate",
        "retriever": "FixKRetriever",
        "inferencer": "PPLInferencer" if labels else "GenInferencer",
        "evaluator": "AccEvaluator",
    }
    more = {"retriever": ", fix_id_list=[0]", "evaluator": "", "postprocessors": ""}
    scores = ", prompt_style='text', likelihoods={'.': 1.0}"
    models = [f"dict(type='ScriptedModel', abbr='fine', default='4'{scores})"]
    mine = f"tests.support.breakable.{part}"
    if part.endswith("Model"):
        options = f"{scores}, max_seq_len=100" if part == "AsyncModel" else ""
        models.append(f"dict(type='{mine}', abbr='bad'{options})")
    elif part == "Transport":
        address = "base_url='http://127.0.0.1:9/v1', api_key=None, retry=0"
        models.append(f"dict(type='OpenAIChatModel', abbr='bad', model='m', client='{mine}', {address})")
    elif part == "Encoder":
        kinds["retriever"], more["retriever"] = "TopkRetriever", f", encoder=dict(type='{mine}')"
    elif part in ("answer_of", "gold_of"):
        which = "pred_postprocessor" if part == "answer_of" else "dataset_postprocessor"
        more["postprocessors"] = f", {which}=dict(type='{mine}')"
    elif part in ("same", "Judged", "Paired", "Corpus", "Batch", "JudgedBatch", "Repeated"):
        kinds["evaluator"] = mine
        if part == "Repeated":
            more["postprocessors"] = f", repeat_evaluator=dict(type='{mine}')"
    else:
        kinds[part.removeprefix("MultiTurn").lower()] = mine
    ice = ", ice_template=dict(type='PromptTemplate', template='{question} {answer}')"
    if part == "Template":
        ice = ice.replace("PromptTemplate", mine)
    if part in ("Judged", "Paired", "JudgedBatch"):
        judge = "dict(type='ScriptedModel', abbr='judge', default='A')"
        template = "dict(type='PromptTemplate', template='{question} {gold} {prediction}')"
        more["evaluator"] = f", judge_cfg={judge}, prompt_template={template}"
        more["evaluator"] += ", baseline=dict(column='answer')" if part == "Paired" else ""
    template = f"dict(type='{kinds['template']}', template='</E>{{question}} {{answer}}', ice_token='</E>')"
    if part.startswith("MultiTurn"):
        ice, kinds["retriever"], more["retriever"] = "", "ZeroRetriever", ""
        kinds["inferencer"] = kinds["inferencer"].replace("GenInferencer", "MultiTurnGenInferencer")
        kinds["template"] = kinds["template"].replace("'PromptTemplate'", "'MultiTurnPromptTemplate'")
        if part == "MultiTurnInferencer":
            kinds["template"] = "MultiTurnPromptTemplate"
        turn = "[dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}')]"
        template = f"dict(type='{kinds['template']}', template=dict(round={turn}))"
    bad = (
        f"dict(abbr='broken', type='{kinds['reader']}', path='sums'{', n=2' if part == 'Repeated' else ''},\n"
        f"  reader_cfg=dict(input_columns=['question'], output_column='answer'),\n"
        f"  infer_cfg=dict(prompt_template={template}{ice},\n"
        f"    retriever=dict(type='{kinds['retriever']}'{more['retriever']}),\n"
        f"    inferencer=dict(type='{kinds['inferencer']}'{', labels=[4, 6]' if labels else ''})),\n"
        f"  eval_cfg=dict(evaluator=dict(type='{kinds['evaluator']}'{more['evaluator']}){more['postprocessors']}))"
    )
    good = (
        "dict(abbr='whole', type='LocalDataset', path='sums',\n"
        "  reader_cfg=dict(input_columns=['question'], output_column='answer'),\n"
        "  infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question}'),\n"
        "    inferencer=dict(type='GenInferencer')),\n"
        "  eval_cfg=dict(evaluator=dict(type='AccEvaluator')))"
    )
    config.write_text(f"models = [{', '.join(models)}]\ndatasets = [{bad},\n{good}]\n")
    return getattr(breakable, part).__name__  # type: ignore[no-any-return]


def scenarios(part: str) -> list[bool]:
    """Whether labels are scored: models are asked for texts and for likelihoods."""
    return [False, True] if part.endswith("Model") else [False]


@pytest.mark.slow
@pytest.mark.grid(31)
@pytest.mark.parametrize("wrong_type", [False, True], ids=["raises", "wrong-type"])
@pytest.mark.parametrize(("part", "member"), CASES)
def test_a_part_that_breaks_ends_no_more_than_itself(config: Path, part: str, member: str, wrong_type: bool) -> None:
    hits = 0
    for labels in scenarios(part):
        PLAN.target, PLAN.wrong_type, PLAN.hits = None, wrong_type, 0
        PLAN.error = ERRORS[CASES.index((part, member)) % len(ERRORS)]
        name = written(config, part, labels=labels)
        plan, _ = checked(Options(str(config)))
        PLAN.target = (name, member)
        run_command("check", "eval.py")
        run_command("view-prompt", "eval.py", "--tokens", "--all")
        reused = None
        if member == "preflight":  # a model that says of itself that it cannot be used
            with pytest.raises(AisPromptError) as caught:
                pipeline.open_run_folder(plan)
            assert "breakable.py" in caught.value.where
        else:
            reused = pipeline.open_run_folder(plan)
            look_at(pipeline.run_source(plan, reused, Session()), member)
        if reused is not None:
            run_command("compare", str(reused.root), str(reused.root))
        hits += PLAN.hits
        PLAN.target = None
        goes_on(Plan(plan.spec), reused)
    assert hits, "nothing calls it"


@pytest.mark.process
@pytest.mark.grid(4)
@pytest.mark.parametrize("wrong_type", [False, True], ids=["raises", "wrong-type"])
@pytest.mark.parametrize("member", [name for name in members(Runner) if name != "stop"])  # called after Ctrl-C only
def test_a_runner_that_breaks_ends_its_own_command(config: Path, member: str, wrong_type: bool) -> None:
    written(config, "answer_of", labels=False)
    runner = "dict(type='tests.support.breakable.Runner', num_shards=1, restarts=0)"
    text = f"{config.read_text()}runner = {runner}\n"
    config.write_text(text.replace("tests.support.breakable.answer_of", "general"))
    PLAN.target, PLAN.wrong_type, PLAN.hits = ("LocalRunner", member), wrong_type, 0
    run_command("run", "eval.py", "--dry-run")
    run_command("run", "eval.py")
    assert PLAN.hits, "nothing calls it"


@pytest.mark.process
@pytest.mark.parametrize("wrong_type", [False, True], ids=["raises", "wrong-type"])
def test_a_partitioner_that_breaks_ends_its_own_command(config: Path, wrong_type: bool) -> None:
    written(config, "answer_of", labels=False)
    more = "partitioner = dict(type='tests.support.breakable.Partitioner')\n"
    config.write_text(config.read_text().replace("tests.support.breakable.answer_of", "general") + more)
    PLAN.target, PLAN.wrong_type, PLAN.hits = ("EachAlone", "groups"), wrong_type, 0
    run_command("run", "eval.py", "-r", "4711", "--shard", "0/1")
    run_command("run", "eval.py", "--runner", "local", "--dry-run")
    assert PLAN.hits == 2
    PLAN.target = None
    assert CliRunner().invoke(main, ["run", "eval.py", "-r", "4711", "--shard", "0/1"]).exit_code == 0


def look_at(result: RunResult, member: str) -> None:
    """What is not broken is scored; what is broken says where."""
    by_name = {f"{outcome.model}/{outcome.dataset}": outcome for outcome in result.outcomes}
    assert by_name["fine/whole"].scores
    for outcome in result.outcomes:
        if outcome.error is not None:
            assert not isinstance(outcome.error, InternalError), outcome.error
            assert "breakable.py" in outcome.error.where, (member, outcome.error.lines())
            assert len(outcome.error.lines()) == 3
            assert outcome.error.exit_code in (2, 3)


def goes_on(plan: Plan, folder: RunFolder | None) -> None:
    """With the part repaired, `-r` brings the run to its end."""
    again = folder or pipeline.open_run_folder(plan)
    result = pipeline.run_source(plan, again, Session())
    assert not [outcome.error for outcome in result.outcomes if outcome.error]
    assert result.failed == 0
    assert all(score.counts["failed"] == 0 for outcome in result.outcomes for score in outcome.scores)


def run_command(*args: str) -> None:
    """Run the command line. A fault that it finds is shown without a traceback, with the user's file."""
    done = CliRunner().invoke(main, args)
    assert done.exit_code in (0, 1, 2, 3), done.output
    assert "Traceback" not in done.output
    if done.exit_code:
        assert "breakable.py" in done.output, done.output
