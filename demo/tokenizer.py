"""The demo model's tokenizer: byte-level BPE over the training documents, with a chat template in ChatML form."""

from __future__ import annotations

from random import Random

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from demo.documents import BOS, EOS, PAD, TURN_END, TURN_START, draw_document

VOCAB_SIZE = 512  # an upper limit: the documents hold fewer different words
TRAINING_DOCUMENTS = 2000

CHAT_TEMPLATE = (
    "{{ bos_token }}"
    "{% for message in messages %}"
    "{% if message['role'] not in ('system', 'user', 'assistant') %}"
    "{{ raise_exception('unknown role: ' ~ message['role']) }}"
    "{% endif %}"
    "{{ '<|im_start|>' ~ message['role'] ~ '\n' ~ message['content'] ~ '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def build_tokenizer(seed: int, max_positions: int) -> PreTrainedTokenizerFast:
    """A tokenizer that round-trips any text; each digit, blank, newline and sign is a token of its own.

    Only letters are merged. So the tokens of a prompt do not depend on what follows: "A:" + " 68", "A: " + "68"
    and "A: 68" are the same tokens, and a label is the same token in front of its option and behind "Answer:".
    """
    return PreTrainedTokenizerFast(
        tokenizer_object=_train_bpe(seed),
        bos_token=BOS,
        eos_token=EOS,
        pad_token=PAD,
        chat_template=CHAT_TEMPLATE,
        model_max_length=max_positions,
        padding_side="left",
        model_input_names=["input_ids", "attention_mask"],  # a Llama takes no token types
        clean_up_tokenization_spaces=False,
    )


def _train_bpe(seed: int) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    pieces = pre_tokenizers.Split(Regex(r"\p{L}+|[^\p{L}]"), behavior="isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pieces, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE,
        special_tokens=[BOS, EOS, PAD, TURN_START, TURN_END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    rng = Random(seed)
    tokenizer.train_from_iterator((draw_document(rng).text for _ in range(TRAINING_DOCUMENTS)), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A", pair=f"{BOS} $A $B", special_tokens=[(BOS, tokenizer.token_to_id(BOS))]
    )
    return tokenizer
