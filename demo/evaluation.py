"""Measures the demo model on the held-out test files, with plain transformers and in every form it was trained for.

Nothing of ais_prompt is used: the figures are what an evaluation by ais_prompt can be compared with. An answer counts
when the whole generated text, up to where the model itself stopped, is the gold answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerFast

from demo.arithmetic import LABELS
from demo.make_data import DATA_DIR

MAX_NEW_TOKENS = 8  # an answer has at most three digits, a line break and an end
BATCH_SIZE = 50
QUESTION_FORM = "Question: {question}\nAnswer: {answer}"
SHORT_FORM = "Q: {question}\nA: {answer}"

Row = dict[str, Any]
Rows = Sequence[Row]
Message = dict[str, str]


@dataclass(frozen=True)
class DemoModel:
    """The model with its tokenizer, as any user of transformers would call them."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast

    def complete(self, prompts: Sequence[str]) -> list[str]:
        """The greedy continuation of each prompt, without blanks around it."""
        return self._generate([self.tokenizer(prompt)["input_ids"] for prompt in prompts])

    def reply(self, conversations: Sequence[list[Message]]) -> list[str]:
        """The assistant's greedy answer to each conversation."""
        encoded = self.tokenizer.apply_chat_template(list(conversations), add_generation_prompt=True, return_dict=True)
        return self._generate(encoded["input_ids"])

    def mean_nll(self, texts: Sequence[str]) -> list[float]:
        """Mean negative log-likelihood of the tokens of each text, in nats per token; BOS is given, not scored."""
        losses: list[float] = []
        with torch.inference_mode():
            for text in texts:
                ids = self.tokenizer(text, return_tensors="pt")["input_ids"]
                losses.append(self.model(input_ids=ids, labels=ids).loss.item())
        return losses

    def _generate(self, prompts: list[list[int]]) -> list[str]:
        answers: list[str] = []
        for start in range(0, len(prompts), BATCH_SIZE):
            batch = self.tokenizer.pad({"input_ids": prompts[start : start + BATCH_SIZE]}, return_tensors="pt")
            output = self.model.generate(**batch, max_new_tokens=MAX_NEW_TOKENS, do_sample=False)
            new_tokens = output[:, batch["input_ids"].shape[1] :]
            answers += [text.strip() for text in self.tokenizer.batch_decode(new_tokens, skip_special_tokens=True)]
        return answers


def load_model(folder: Path) -> DemoModel:
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    return DemoModel(model, AutoTokenizer.from_pretrained(folder))


def read_rows(name: str, split: str) -> list[Row]:
    return [json.loads(line) for line in (DATA_DIR / name / f"{split}.jsonl").read_text().splitlines()]


def accuracy(answers: Sequence[str], golds: Sequence[str]) -> float:
    """The share of answers that are the gold answer, 0..1."""
    return sum(answer == gold for answer, gold in zip(answers, golds, strict=True)) / len(golds)


def completion_accuracy(demo: DemoModel, test: Rows, *, shots: int, form: str = QUESTION_FORM) -> float:
    """Sums to be completed; the first rows of the training file are the examples."""
    examples = "".join(form.format(**row) + "\n" for row in read_rows("addition", "train")[:shots])
    prompts = [examples + form.format(question=row["question"], answer="") for row in test]
    return accuracy(demo.complete(prompts), [row["answer"] for row in test])


def chat_accuracy(demo: DemoModel, test: Rows, *, shots: int) -> float:
    """Questions in words to an assistant; examples are turns of the conversation."""
    examples: list[Message] = []
    for row in read_rows("chat", "train")[:shots]:
        examples += [_user(row["question"]), _assistant(row["answer"])]
    conversations = [[*examples, _user(row["question"])] for row in test]
    return accuracy(demo.reply(conversations), [row["answer"] for row in test])


def dialogue_accuracy(demo: DemoModel, test: Rows) -> float:
    """Dialogues turn by turn, with the model's own answers in the history: the share of right turns."""
    histories: list[list[Message]] = [[] for _ in test]
    given: list[str] = []
    golds: list[str] = []
    for turn in range(max(len(row["question"]) for row in test)):
        going_on = [(row, history) for row, history in zip(test, histories, strict=True) if turn < len(row["question"])]
        for row, history in going_on:
            history.append(_user(row["question"][turn]))
        answers = demo.reply([history for _, history in going_on])
        for (row, history), answer in zip(going_on, answers, strict=True):
            history.append(_assistant(answer))
            golds.append(row["answer"][turn])
        given += answers
    return accuracy(given, golds)


def choice_accuracy(demo: DemoModel, test: Rows, *, shots: int) -> float:
    """Multiple choice by perplexity: the option with which the whole text, question and all, is the most likely."""
    examples = "".join(_choice_text(row, row["answer"]) + "\n" for row in read_rows("choice", "train")[:shots])
    chosen = []
    for row in test:
        losses = demo.mean_nll([examples + _choice_text(row, label) for label in LABELS])
        chosen.append(LABELS[losses.index(min(losses))])
    return accuracy(chosen, [row["answer"] for row in test])


@dataclass(frozen=True)
class Evaluation:
    """One line of the model card: a dataset, and how the model is asked."""

    name: str
    data_set: str
    measure: Callable[[DemoModel, Rows], float]

    def run(self, demo: DemoModel, rows: int | None = None) -> float:
        """The accuracy (0..1) on the first `rows` rows of the test file, or on all."""
        return self.measure(demo, read_rows(self.data_set, "test")[:rows])


EVALUATIONS = (
    Evaluation("addition, 0 shots", "addition", partial(completion_accuracy, shots=0)),
    Evaluation("addition, 4 shots", "addition", partial(completion_accuracy, shots=4)),
    Evaluation("addition, 0 shots, Q: A:", "addition", partial(completion_accuracy, shots=0, form=SHORT_FORM)),
    Evaluation("addition, 4 shots, Q: A:", "addition", partial(completion_accuracy, shots=4, form=SHORT_FORM)),
    Evaluation("chat, 0 shots", "chat", partial(chat_accuracy, shots=0)),
    Evaluation("chat, 2 shots", "chat", partial(chat_accuracy, shots=2)),
    Evaluation("dialogue, by turn", "dialogue", dialogue_accuracy),
    Evaluation("choice, perplexity, 0 shots", "choice", partial(choice_accuracy, shots=0)),
    Evaluation("choice, perplexity, 4 shots", "choice", partial(choice_accuracy, shots=4)),
)


def _choice_text(row: Row, label: str) -> str:
    return QUESTION_FORM.format(question=row["question"], answer=row[label])


def _user(text: str) -> Message:
    return {"role": "user", "content": text}


def _assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}
