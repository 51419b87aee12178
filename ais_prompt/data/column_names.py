"""Names that columns have in files of people: of the question, of what it is about, of options and of answers.

All are as `plain_name` returns them. In each table the likeliest come first.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from ais_prompt.utils import late

_BESIDE: Final = late(r"\s*[(\[（【][^)\]）】]*[)\]）】]\s*|\s+[-–—]\s.*")
_HUMP: Final = late(r"(?<=[a-z])(?=[A-Z])")


def plain_name(column: str) -> str:
    """Return a name as the tables have it: ``Correct answer(s)`` and ``correctAnswer`` are ``correct_answer``.

    It is in small letters, with ``_`` between words, without what is in brackets or behind a dash.
    """
    name = unicodedata.normalize("NFKC", column)
    name = _BESIDE.sub(" ", name).strip() or name
    return re.sub(r"[\s/-]+", "_", _HUMP.sub("_", name.strip().strip("*#:.?()"))).lower()


class Words(NamedTuple):
    """What a language calls its columns, each as words with blanks between them."""

    question: str
    answer: str
    context: str = ""
    option: str = ""
    no_content: str = ""


LANGUAGES: Final = {
    "Chinese": Words(
        "问题 题目 提问 题干 试题 输入 指令 文本 句子 评论 内容 用户输入 問題 題目 提問 題幹",
        "答案 标准答案 参考答案 正确答案 正确选项 标准回答 参考回复 期望输出 预期答案 回答 输出 标签 情感 结果 解答 "
        "標準答案 正確答案",
        "上下文 材料 文章 段落 背景 指令 原文 参考文档 阅读材料 知识库内容 知识",
        "选项 選項 候选 备选",
        "编号 序号 类别 来源 难度 学科 解析 题型 知识点 备注 章节",
    ),
    "German": Words(
        "frage fragestellung aufgabe",
        "antwort lösung loesung erwartete_antwort richtige_antwort korrekte_antwort musterantwort",
        "kontext",
        "antwort option antwortmöglichkeit",
        "kategorie nr nummer bemerkung thema schwierigkeit quelle",
    ),
    "French": Words(
        "énoncé enonce",
        "réponse reponse réponse_attendue réponse_correcte bonne_réponse",
        "contexte",
        "réponse reponse choix proposition",
        "catégorie categorie numéro remarque thème source",
    ),
    "Spanish": Words(
        "pregunta enunciado",
        "respuesta respuesta_correcta respuesta_esperada solución",
        "contexto",
        "opción opcion respuesta alternativa",
        "categoría categoria número tema fuente",
    ),
    "Portuguese": Words(
        "pergunta questão questao",
        "resposta resposta_correta resposta_esperada gabarito",
        "contexto",
        "opção opcao alternativa resposta",
        "assunto fonte",
    ),
    "Italian": Words("domanda quesito", "risposta risposta_corretta risposta_attesa", "contesto", "opzione risposta"),
    "Dutch": Words("vraag", "antwoord juiste_antwoord verwacht_antwoord", "", "optie antwoord", "categorie"),
    "Polish": Words("pytanie", "odpowiedź odpowiedz poprawna_odpowiedź", "kontekst", "odpowiedź opcja", "kategoria"),
    "Turkish": Words("soru", "cevap doğru_cevap yanıt", "bağlam", "seçenek secenek şık", "kategori konu"),
    "Russian": Words(
        "вопрос задание",
        "ответ правильный_ответ эталонный_ответ",
        "контекст",
        "вариант ответ",
        "категория номер тема",
    ),
    "Ukrainian": Words("питання запитання", "відповідь правильна_відповідь", "контекст", "варіант", "категорія"),
    "Japanese": Words(
        "質問 問題 設問 問題文",
        "正解 答え 回答 解答 正答 期待される回答",
        "文脈 本文",
        "選択肢",
        "番号 カテゴリ 分野 備考 解説",
    ),
    "Korean": Words(
        "질문 문제 문항 문장",
        "정답 답변 답 레이블 라벨",
        "지문 본문 문맥",
        "보기 선택지",
        "번호 분류 비고 해설 과목",
    ),
    "Vietnamese": Words("câu_hỏi", "đáp_án câu_trả_lời trả_lời", "ngữ_cảnh", "lựa_chọn phương_án"),
    "Indonesian": Words("pertanyaan soal", "kunci_jawaban jawaban_benar kunci jawaban", "konteks", "pilihan opsi"),
    "Arabic": Words("السؤال سؤال", "الإجابة الاجابة الجواب إجابة الإجابة_الصحيحة", "السياق", "الخيار خيار", "الفئة"),
    "Persian": Words("سوال سؤال پرسش", "پاسخ جواب پاسخ_صحیح", "متن", "گزینه"),
    "Hindi": Words("प्रश्न सवाल", "उत्तर जवाब सही_उत्तर", "संदर्भ", "विकल्प"),
    "Thai": Words("คำถาม โจทย์", "คำตอบ เฉลย", "บริบท เนื้อหา", "ตัวเลือก"),
}  # fmt: skip


def _all(kind: str) -> tuple[str, ...]:
    return tuple(word for words in LANGUAGES.values() for word in getattr(words, kind).split())


QUESTIONS: Final = (
    *("question", "question_stem", "question_text", "problem", "problem_text", "problem_statement", "prompt", "query"),
    *("user_input", "user_message"),
    *("user_query", "input", "instruction", "goal", "stem", "statement", "claim", "utterance", "sentence", "review"),
    *("ctx", "text", "content", "hypothesis", "q", "user", "task", "tweet", "comment", "headline", "inputs"),
    *("original_text", "message", "body", "startphrase", "start_phrase", "question_content", "comment_text"),
    *("review_body", "utt"),
    *_all("question"),
)
ANSWERS: Final = (
    *("gold_label", "answer", "gold", "final_decision", "stance", "target", "expected", "reference", "label_text"),
    *("label_desc", "label_des", "best_answer", "exact_answer"),
    *("label_name", "category_name", "label", "ground_truth", "final_answer", "answer_number", "solution", "ideal"),
    *("output", "ans", "golden", "answers", "gold_answer", "correct_answer", "expected_answer", "reference_answer"),
    *("expected_output", "desired_output", "answer_key", "answerkey", "answer_idx", "answer_index", "answer_id"),
    *("correct_option", "correct_choice", "correct_index", "correct_id", "correct_option_index"),
    *("correct_answer_index", "correct_answer_idx", "correct_answer_id", "correct_answers", "correct", "gold_index"),
    *("gold_idx", "correct_answer_num", "gt_answer", "cop", "right_answer", "ground_truths", "groundtruth", "targets"),
    *("references", "expected_response", "reference_response", "ideal_response", "ideal_answer", "answer_text"),
    *("answer_value", "response", "completion", "labels", "class", "sentiment", "intent", "emotion", "a"),
    *("value", "__expected", "golden_answers", "possible_answers", "mc_answer", "assistant", "outputs"),
    *("answer_entity", "polarity", "is_duplicate", "rating", "stars", "sql", "query"),
    *_all("answer"),
)
CONTEXTS: Final = (
    *("context", "passage", "document", "article", "paragraph", "story", "background", "evidence", "support"),
    *("contexts", "retrieved_contexts", "reference_contexts", "dialogue", "dialog", "theory", "premise"),
    *("narrative", "patient_note", "puzzle", "flores_passage", "rule_content", "body", "sentence", "input"),
    *("knowledge", "context_text", "source_text", "abstract", "transcript", "report", "email", "text", "content"),
    *("scenario", "chunk_text", "chunk", "schema", "prompt"),
    *_all("context"),
)
SYSTEM: Final = ("system_prompt", "system_message", "system_instruction", "system")
"""What the system says before a chat."""
INSTRUCTIONS: Final = (*SYSTEM, "instruction", "instructions", "指令")
"""What is said above all else."""
BESIDE: Final = ("pre_text", "table", "table_text", "post_text")
"""Columns that the question is about beside its context, in this order."""
OF_QUESTIONS: Final = late(r"(?:^|_)(?:question|problem|prompt|query|utterance)s?(?:_|$)|问题|题目|题干|提问")
OF_ANSWERS: Final = late(
    r"(?:^|_)(?:answer|gold|target|expected|label)s?(?:_|$)|答案|标签|(?:^|_)(?:response|reply|output|ideal|solution)$"
)
"""Words in the names of columns that have more words: ``question_text``, ``标准答案文本``."""
OF_NUMBERS: Final = late(r"(?:correct|right|gold|answer|label|target)\w*_(?:id|idx|index|num|number|no|position)")
"""Names of columns with the number of the right option."""
PAIRS: Final = (
    ("premise", "hypothesis"),
    ("premises", "conclusion"),
    ("word", "sentence1", "sentence2"),
    ("word", "context_1", "context_2"),
    ("sentence1", "sentence2"),
    ("sentence_1", "sentence_2"),
    ("sentence_a", "sentence_b"),
    ("question1", "question2"),
    ("text1", "text2"),
    ("text_a", "text_b"),
    ("sent1", "sent2"),
    ("subject", "body"),
    ("subject", "description"),
    ("title", "description"),
    ("前提", "假设"),
    ("premisa", "hipótesis"),
    ("premisa", "hipotesis"),
)
NO_CONTENT: Final = (
    *("id", "index", "idx", "no", "", "category", "source", "level", "type", "subject", "topic", "difficulty", "split"),
    *("uid", "uuid", "qid", "question_id", "task_id", "sample_id", "meta", "metadata", "tags", "explanation", "url"),
    *("cluster", "dataset", "language", "lang", "chosen", "rejected", "checklist", "rubric", "file", "filename"),
    *("file_name", "path", "date", "author", "owner", "version", "canary"),
    *_all("no_content"),
)
OPTION_LISTS: Final = (
    *("choices", "options", "candidates", "endings", "alternatives", "answer_choices", "answer_options", "option"),
    *("choice", "mc1_targets", "target_scores", "multiple_choice_targets", "option_list", "choice_list"),
    *("answer_candidates", "possible_answers", "answers", "选项列表", "opciones", "alternativas", "secenekler"),
    *("seçenekler", "jawaban"),
    *_all("option"),
)
OPTION_WORDS: Final = frozenset(
    (
        *("", "option", "choice", "opt", "op", "ending", "sol", "candidate", "answer", "ans", "mc", "mc_answer"),
        *("holding", "alternative", "answer_option", "answer_choice", *_all("option")),
    )
)
"""What is before or behind the letter or number of an option."""
ANSWER_WORDS: Final = frozenset(("answer", "ans", "mc_answer", *_all("answer")))
"""Those of them that also name right answers: ``answer_1`` and ``answer_2`` may both be right."""
RIGHT: Final = ("correct_answer", "right_answer", "correct", "正确答案")
WRONG_LIST: Final = ("incorrect_answers", "wrong_answers", "distractors", "错误答案", "干扰项")
OF_WRONG: Final = late(r"(?:incorrect|wrong|distractor|错误答案|干扰项)s?_?(?:answer|option|choice)?s?_?\d{0,2}")
INSIDE: Final = (
    *("vars", "inputs", "outputs", "input", "question", "example", "fields", "item", "data", "row", "doc"),
    *("reward_model", "expected", "expectations", "expected_output", "reference_outputs", "output", "body", "request"),
    *("题目", "问题"),
)
"""Columns whose objects hold the columns, in datasets of tests and traces."""
