"""Dialogues of many turns, from the config to the score: broken off, gone on with, and with bad data."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.core.e2e.project import DATASET, Project
from tests.support.servers import MockServer

pytestmark = pytest.mark.process


TURNS = ("a", "b", "c")
ROWS = [
    {"question": [f"{turn}{row}?" for turn in TURNS], "answer": [f"{turn.upper()}{row}" for turn in TURNS]}
    for row in range(6)
]
ANSWERS = {f"^{turn}{row}": f"{turn.upper()}{row}" for row in range(6) for turn in TURNS}
WHOLE = {"accuracy": 1.0, "dialogue_accuracy": 1.0}
DIALOGUE = """dict(
    abbr='talk', type='LocalDataset', path='data/talk.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='MultiTurnPromptTemplate', template=dict(
            begin=[dict(role='SYSTEM', fallback_role='HUMAN', prompt='Answer in capitals.')],
            round=[dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}')])),
        inferencer=dict(type='MultiTurnGenInferencer', infer_mode='every'),
    ),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
)"""
GOLD_MODES = ("every_with_gt", "last")
CHAT = """dict(
    abbr='talk', type='LocalDataset', path='data/talk.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(inferencer=dict(type='ChatInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')),
)"""


def model(**accidents: Any) -> str:
    settings = {"type": "ScriptedModel", "abbr": "fake", "answers": ANSWERS, "max_concurrency": 2, **accidents}
    return repr(settings)


@pytest.fixture
def talk(project: Project) -> Project:
    project.write_data(ROWS, "talk.jsonl")
    project.write_config(models=model(), datasets=DIALOGUE)
    return project


def lines(project: Project) -> list[dict[str, Any]]:
    return project.predictions(dataset="talk")


def scores(project: Project) -> dict[str, float]:
    return {row["metric"]: row["score"] for row in project.summary()}


def answered(project: Project) -> Counter[tuple[str, int]]:
    """How often each turn of each sample was answered."""
    journal = project.journal(dataset="talk")
    return Counter((line["sample_id"], line["turn"]) for line in journal if "failure" not in line["completion"])


def without_completions(project: Project) -> list[dict[str, Any]]:
    return [{key: value for key, value in line.items() if key != "completions"} for line in lines(project)]


def test_a_dialogue_is_asked_turn_by_turn_and_scored_both_ways(talk: Project) -> None:
    done = talk.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert scores(talk) == WHOLE
    line = lines(talk)[1]
    assert line["prediction"] == line["gold"] == ["A1", "B1", "C1"]
    assert [message["content"] for message in line["origin_prompt"][2]] == [
        "Answer in capitals.",
        "a1?",
        "A1",
        "b1?",
        "B1",
        "c1?",
    ]
    assert [len(prompt) for prompt in line["origin_prompt"]] == [2, 4, 6]
    assert "failed_turn" not in line


def test_a_finished_run_is_reused_whole(talk: Project) -> None:
    assert talk.run("run", "eval.py").returncode == 0
    again = talk.run("run", "eval.py", "-r")
    assert again.returncode == 0, again.stderr
    assert "samples are answered already, 0 will be asked" in again.stderr
    # A dialogue has several answers: more answers than samples are no sign of answers that are not used.
    assert "belong to other prompts" not in again.stderr


def test_a_failed_turn_ends_its_dialogue_and_a_resume_goes_on_from_it(talk: Project) -> None:
    talk.write_config(models=model(fail_after=4, max_concurrency=1), datasets=DIALOGUE)
    done = talk.run("run", "eval.py")
    assert done.returncode == 1, done.stderr
    assert [line.get("failed_turn") for line in lines(talk)] == [None, 2, 1, 1, 1, 1]
    assert lines(talk)[1]["prediction"] == ["A1", None, None]
    assert [row["failed"] for row in talk.summary()] == [5, 5]
    assert scores(talk) == WHOLE  # of the one dialogue that was answered

    talk.write_config(models=model(), datasets=DIALOGUE)
    done = talk.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert "1 of 6 samples are answered already, 5 will be asked" in done.stderr
    assert set(answered(talk).values()) == {1}
    assert len(answered(talk)) == 18
    assert [line["prediction"] for line in lines(talk)] == [row["answer"] for row in ROWS]


def test_after_kill_9_no_turn_is_asked_twice(talk: Project) -> None:
    talk.write_config(models=model(die_after=7), datasets=DIALOGUE)
    assert talk.run_process("run", "eval.py").returncode == -9
    before = answered(talk)
    assert sum(before.values()) >= 7
    assert {turn for _, turn in before} > {0}

    talk.write_config(models=model(), datasets=DIALOGUE)
    done = talk.run("run", "eval.py", "-r")
    assert done.returncode == 0, done.stderr
    assert set(answered(talk).values()) == {1}
    assert len(answered(talk)) == 18
    for row, line in zip(ROWS, lines(talk), strict=True):
        assert line["prediction"] == row["answer"]
        said = [text for turn in zip(row["question"], row["answer"], strict=True) for text in turn]
        assert [message["content"] for message in line["origin_prompt"][-1]] == ["Answer in capitals.", *said[:-1]]


def test_data_without_an_answer_or_a_turn_fails_alone(talk: Project) -> None:
    uneven = {"question": ["a0?", "b0?", "c0?"], "answer": ["A0"]}
    talk.write_data([uneven, {"question": [], "answer": []}, ROWS[1]], "talk.jsonl")
    done = talk.run("run", "eval.py")
    assert done.returncode == 1, done.stderr
    assert "3/3 · 2 failed" in done.stderr
    failures = [line["completions"][-1].get("failure", {}).get("kind") for line in lines(talk)]
    assert failures == ["missing_turns", "no_turns", None]
    assert [line.get("failed_turn") for line in lines(talk)] == [2, 1, None]
    assert scores(talk) == WHOLE
    again = talk.run("run", "eval.py", "-r")
    assert "1 of 3 samples are answered already, 2 will be asked" in again.stderr
    assert "3/3 · " in again.stderr


def test_what_view_prompt_shows_is_what_is_sent(talk: Project) -> None:
    modes = {mode: DIALOGUE.replace("'every'", f"'{mode}'").replace("'talk'", f"'{mode}'") for mode in GOLD_MODES}
    talk.write_config(models=model(), datasets=", ".join(modes.values()))
    shown = json.loads(talk.run("view-prompt", "eval.py", "-a", "-c", "2", "--json").stdout)
    assert talk.run("run", "eval.py").returncode == 0
    by_turn, last = ([line["origin_prompt"] for line in talk.predictions(dataset=mode)[:2]] for mode in GOLD_MODES)
    assert [view["prompt"] for view in shown] == [*by_turn[0], *by_turn[1], *last]
    assert [view["title"] for view in shown] == [*["turn 1", "turn 2", "turn 3"] * 2, *["turn 3"] * 2]


def test_chats_need_no_template_and_any_evaluator_scores_their_last_turn(talk: Project) -> None:
    talk.write_config(models=model(), datasets=CHAT)
    done = talk.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    assert scores(talk) == {"accuracy": 1.0}
    line = lines(talk)[0]
    assert (line["prediction"], line["gold"]) == ("C0", "C0")
    assert [message["content"] for message in line["origin_prompt"]] == ["a0?", "A0", "b0?", "B0", "c0?"]


def test_configs_that_cannot_work_are_told_before_anything_is_asked(talk: Project) -> None:
    faulty = {
        "no infer_mode 'first'|'first'": DIALOGUE.replace("'every'", "'first'"),
        "max_out_len is empty": DIALOGUE.replace("infer_mode='every'", "max_out_len=[]"),
        "PromptTemplate cannot make multi-turn dialogues": DATASET.replace("GenInf", "MultiTurnGenInf"),
        "neither a prompt_template nor an ice_template": CHAT.replace("ChatInf", "GenInf"),
    }
    numbered = [config.replace("abbr='", f"abbr='{number}-") for number, config in enumerate(faulty.values())]
    talk.write_config(models=model(), datasets=", ".join(numbered))
    done = talk.run("check", "eval.py")
    assert done.returncode == 2
    for what in faulty:
        assert any(words in done.stderr for words in what.split("|")), done.stderr
    assert "4 faults" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_chat_with_any_roles_is_no_reason_for_a_warning(talk: Project) -> None:
    chat = [{"role": role, "content": role} for role in ("system", "user", "tool", "assistant")]
    talk.write_data([{"question": chat, "answer": "A"}], "talk.jsonl")
    slots = [
        {"role": "HUMAN", "begin": "H:", "end": "\n"},
        {"role": "BOT", "begin": "B:", "end": "\n", "generate": True},
    ]
    talk.write_config(models=model(prompt_style="text", meta_template={"round": slots}), datasets=CHAT)
    done = talk.run("check", "eval.py")
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stdout + done.stderr
    [view] = json.loads(talk.run("view-prompt", "eval.py", "--json").stdout)
    assert view["prompt"] == "systemH:user\ntoolB:"


def test_a_server_is_sent_the_dialogue_as_it_goes_on(talk: Project, server: MockServer) -> None:
    server.follow(*({"text": f"{turn}0?", "answer": f"{turn.upper()}0"} for turn in TURNS))
    talk.write_data(ROWS[:1], "talk.jsonl")
    api = {"type": "OpenAIChatModel", "abbr": "fake", "model": "m", "base_url": server.base_url, "api_key": None}
    lengths = DIALOGUE.replace("infer_mode='every'", "max_out_len=[5, 6]")
    talk.write_config(models=repr(api), datasets=lengths)
    done = talk.run("run", "eval.py")
    assert done.returncode == 0, done.stderr
    bodies = [request["body"] for request in server.requests()]
    assert [body["messages"] for body in bodies] == lines(talk)[0]["origin_prompt"]
    assert [body.get("max_tokens", body.get("max_completion_tokens")) for body in bodies] == [5, 6, 6]
    assert bodies[2]["messages"][-3:] == [
        {"role": "user", "content": "b0?"},
        {"role": "assistant", "content": "B0"},
        {"role": "user", "content": "c0?"},
    ]


def test_examples_of_a_chat_are_ignored_with_a_warning(project: Project) -> None:
    project.write_data([{"question": "1+1=?", "answer": "2"}])
    infer = "dict(ice_template=dict(type='PromptTemplate', template='{question} {answer}'), prompt_template=dict("
    infer += "type='PromptTemplate', template=dict(round=[dict(role='HUMAN', prompt='{question}'), dict(role='BOT', "
    infer += "prompt='{answer}')])), retriever=dict(type='ZeroRetriever'), inferencer=dict(type='ChatInferencer'))"
    data = "dict(abbr='sums', path='data/sums.jsonl', reader_cfg=dict(input_columns=['question'], "
    data += f"output_column='answer'), infer_cfg={infer}, eval_cfg=dict(evaluator=dict(type='AccEvaluator')))"
    project.write_config(models="dict(type='ScriptedModel', abbr='fake', answers={'': '2'})", datasets=data)
    checked = project.run("check", "eval.py")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "ice_template is ignored" in checked.stdout + checked.stderr
    assert "datasets[0].infer_cfg.ice_template (eval.py:" in checked.stdout + checked.stderr
    done = project.run("run", "eval.py")
    assert done.returncode == 0, done.stderr


FEW_SHOT = DIALOGUE.replace("begin=[", "begin=['</E>', ").replace(
    "        prompt_template=dict(type='MultiTurnPromptTemplate', ",
    """        ice_template=dict(type='MultiTurnPromptTemplate', template=dict(
            round=[dict(role='HUMAN', prompt='{question}'), dict(role='BOT', prompt='{answer}')])),
        retriever=dict(type='FixKRetriever', fix_id_list=[0, 1]),
        prompt_template=dict(type='MultiTurnPromptTemplate', ice_token='</E>', """,
)


def test_examples_are_sent_before_every_turn_and_counted(project: Project) -> None:
    data = FEW_SHOT.replace("data/talk.jsonl", "data/talk")
    project.write_data([{"question": ["x?", "y?"], "answer": ["X", "Y"]}, {"question": ["z?"], "answer": ["Z"]}])
    (project.root / "data" / "talk").mkdir()
    (project.root / "data" / "sums.jsonl").rename(project.root / "data" / "talk" / "train.jsonl")
    project.write_data(ROWS[:1], "talk/test.jsonl")
    project.write_config(models=model(), datasets=data)
    viewed = project.run("view-prompt", "eval.py", "-n", "--json")
    assert viewed.returncode == 0, viewed.stderr
    view = json.loads(viewed.stdout)[0]
    done = project.run("run", "eval.py", "-m", "infer")
    assert done.returncode == 0, done.stderr
    [line] = lines(project)
    shown = ["x?", "X", "y?", "Y", "z?", "Z", "Answer in capitals."]
    said = [[message["content"] for message in prompt] for prompt in line["origin_prompt"]]
    assert said == [[*shown, "a0?"], [*shown, "a0?", "A0", "b0?"], [*shown, "a0?", "A0", "b0?", "B0", "c0?"]]
    assert line["shots_used"] == 2
    assert view["shots"] == [0, 1]
    assert view["prompt"] == line["origin_prompt"][0]


def test_a_chat_has_no_place_for_examples(project: Project) -> None:
    project.write_data(ROWS, "talk.jsonl")
    shots = "infer_cfg=dict(retriever=dict(type='FixKRetriever', fix_id_list=[0], allow_overlap=True), "
    project.write_config(models=model(), datasets=CHAT.replace("infer_cfg=dict(", shots))
    done = project.run("check", "eval.py")
    assert done.returncode == 2
    assert "the retriever returns examples, but ChatTemplate cannot show them" in done.stderr
