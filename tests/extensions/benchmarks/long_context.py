"""Solve the tasks of `RulerDataset` by reading their prompts, and tokenizers to measure them by."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from ais_prompt.extensions.benchmarks.ruler.grammar import SENTENCES, Dice


def solve(task: str, prompt: str) -> list[str]:
    """Return the answers that a prompt asks for, found in its text only."""
    if task.startswith("niah"):
        return _needles(prompt)
    text, question = prompt.rsplit("\n\n", 1)
    if task == "vt":
        return _variables(text, question)
    if task in ("cwe", "fwe"):
        listed = text.split("\n\n", 1)[1].split("\n")[0]
        words = re.findall(r"\d+\. (\w+)", listed) if task == "cwe" else re.findall(r"\w+", listed)
        return [word for word, _ in Counter(words).most_common(10 if task == "cwe" else 3)]
    born = dict(re.findall(r"(\w+ \w+) was born in the town of (\w+) and", text))
    person = re.search(r"(\w+ \w+)(?: was)? born\?", question)
    assert person
    town = born[person.group(1)]
    return [town] if task == "qa_1" else [dict(re.findall(r"mayor of (\w+) is (\w+ \w+)\.", text))[town]]


def _needles(prompt: str) -> list[str]:
    text, question = prompt.rsplit("\n\n", 1)
    if asked := re.search(r"give for the (.+)\? Answer", question):
        keys, pattern = asked.group(1).split(", the "), r"a secret \w+ of the {} is (\S+)\."
    else:
        asked = re.search(r"根据上面的文字，(.+)的秘密(?:数字|编号)(?:是什么|有哪些)", question)
        assert asked
        keys, pattern = asked.group(1).split("、"), r"请注意：{}的秘密(?:数字|编号)之一是([^。]+)。"
    return [value for key in keys for value in re.findall(pattern.format(re.escape(key)), text)]


def _variables(text: str, question: str) -> list[str]:
    value = re.search(r"the value (\d+),", question)
    assert value
    found = set[str]()
    sources = dict(re.findall(r"Set the variable (\w+) to (?:the variable )?(\w+)\.", text))
    for name in sources:
        source = name
        while source in sources:
            source = sources[source]
        if source == value.group(1):
            found.add(name)
    return sorted(found)


def save_tokenizer(kind: str, folder: Path) -> None:
    """Train a small tokenizer on the grammar: ``bytes`` as GPT-2's, or ``words`` as SentencePiece's; or ``letters``."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer: Any = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=kind == "words"))
    special = ["<unk>", "<s>", "</s>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    if kind == "words":
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
        tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
        special += [f"<0x{number:02X}>" for number in range(256)]
        alphabet = []
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
    size = len(alphabet) + len(special) + (0 if kind == "letters" else 1500)
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=special, initial_alphabet=alphabet)
    dice = Dice("corpus")
    corpus = [SENTENCES[language](dice) for language in ("en", "zh") for _ in range(2000)]
    tokenizer.train_from_iterator(corpus, trainer)
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )
    if kind != "bytes":
        made.chat_template = (
            "{{ bos_token }}{% for message in messages %}[{{ message['role'] }}] {{ message['content'] | trim }}\n"
            "{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
        )
    made.save_pretrained(folder)
