"""Rows as public datasets, tools and people write them, with made-up content, and what models answer.

Each kind has twelve rows, and for each row an answer that is the gold itself, an ordinary sentence around it, and, for
some kinds, an answer that commits to nothing.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

CITIES = dict(
    France="Paris", Japan="Tokyo", Italy="Rome", Norway="Oslo", Peru="Lima", Egypt="Cairo", Germany="Berlin",
    Austria="Vienna", Greece="Athens", Cuba="Havana", Spain="Madrid", Ireland="Dublin",
)  # fmt: skip
COUNTRIES = list(CITIES)
CHINESE = dict(
    法国="巴黎", 日本="东京", 意大利="罗马", 挪威="奥斯陆", 秘鲁="利马", 埃及="开罗", 德国="柏林", 奥地利="维也纳", 希腊="雅典",
    古巴="哈瓦那", 西班牙="马德里", 爱尔兰="都柏林",
)  # fmt: skip
LANDS = list(CHINESE)

Made = Callable[[int], Any]


class FileKind(NamedTuple):
    """Rows of one form, and the answers of models to them."""

    name: str
    row: Made
    gold: Made
    sentence: Made
    hedge: str | None = None
    compares_formulas: bool = False

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [self.row(number) for number in range(12)]


def city(n: int) -> str:
    return CITIES[COUNTRIES[n]]


def asked(n: int) -> str:
    return f"What is the capital of {COUNTRIES[n]}?"


def zh(n: int) -> str:
    return CHINESE[LANDS[n]]


def asked_zh(n: int) -> str:
    return f"{LANDS[n]}的首都是哪里?"


def names(n: int) -> list[str]:
    found = [city((n + k) % 12) for k in range(4)]
    random.Random(n).shuffle(found)
    return found


def names_zh(n: int) -> list[str]:
    found = [zh((n + k) % 12) for k in range(4)]
    random.Random(n).shuffle(found)
    return found


def place(n: int) -> int:
    return names(n).index(city(n))


def letter(n: int) -> str:
    return "ABCD"[place(n)]


def place_zh(n: int) -> int:
    return names_zh(n).index(zh(n))


def letter_zh(n: int) -> str:
    return "ABCD"[names_zh(n).index(zh(n))]


def is_city(n: int) -> str:
    return f"It is {city(n)}."


def is_letter(n: int) -> str:
    return f"The answer is {letter(n)}."


def is_letter_zh(n: int) -> str:
    return f"答案是{letter_zh(n)}。"


def several(n: int) -> str:
    return ("AC", "B", "ABD", "CD")[n % 4]


def lettered(n: int) -> dict[str, str]:
    return dict(zip("ABCD", names(n), strict=True))


def in_line(n: int) -> str:
    return " ".join(f"{mark}) {name}" for mark, name in lettered(n).items())


def pick(*values: Any) -> Made:
    return lambda n: values[n % len(values)]


def money(n: int) -> int:
    return 1000 + 37 * n


KINDS = [
    # --- questions ---
    FileKind("ragas", lambda n: dict(user_input=asked(n), retrieved_contexts=["One text.", "Another."], reference=city(n)), city, is_city),
    FileKind("promptfoo", lambda n: dict(vars=dict(question=asked(n)), **{"assert": [dict(type="contains", value=city(n))]}), city, is_city),
    FileKind("promptfoo expected", lambda n: dict(vars=dict(question=asked(n), expected=city(n))), city, is_city),
    FileKind("verl", lambda n: dict(data_source="math", prompt=[dict(role="user", content=asked(n))], reward_model=dict(style="rule", ground_truth=city(n))), city, is_city),
    FileKind("chat columns", lambda n: dict(system="Be brief.", user=asked(n), assistant=city(n)), city, is_city),
    FileKind("points in cells", lambda n: dict(question=asked(n), answer=f"[{n}, {n + 2}]"), lambda n: f"[{n}, {n + 2}]", lambda n: f"The point is [{n}, {n + 2}]."),
    FileKind("livebench", lambda n: dict(question_id=f"q{n}", category="math", ground_truth=city(n), turns=[asked(n)], task="x"), city, is_city),
    FileKind("turns without roles", lambda n: dict(category="arena", cluster="c", turns=[dict(content=asked(n))], reference=city(n)), city, is_city),
    FileKind("olympiad", lambda n: dict(question="Find x.", solution=["It is long."], final_answer=[f"${n + 2}$"], error=None), lambda n: rf"\boxed{{{n + 2}}}", lambda n: f"So x = {n + 2}, and the final answer is \\boxed{{{n + 2}}}."),
    FileKind("drop", lambda n: dict(passage="A text.", question=asked(n), answers_spans=dict(spans=[city(n)], types=["span"])), city, is_city),
    FileKind("hotpotqa", lambda n: dict(id=str(n), question=asked(n), answer=city(n), type="bridge", supporting_facts=dict(title=["A"], sent_id=[0]), context=dict(title=["A", "B"], sentences=[["One. ", "Two."], ["Three."]])), city, is_city),
    FileKind("hotpotqa, its own file", lambda n: dict(_id=str(n), question=asked(n), answer=city(n), supporting_facts=[["A", 0]], context=[["A", ["One.", " Two."]], ["B", ["Three."]]]), city, is_city),
    FileKind("musique", lambda n: dict(id=str(n), paragraphs=[dict(idx=0, title="A", paragraph_text="One.", is_supporting=True)], question=asked(n), answer=city(n), answerable=True), city, is_city),
    FileKind("ms marco", lambda n: dict(answers=[city(n)], passages=dict(is_selected=[1, 0], passage_text=["One.", "Two."], url=["u", "v"]), query=asked(n), query_id=n), city, is_city),
    FileKind("narrativeqa", lambda n: dict(document=dict(id="x", kind="movie", text="A text."), question=dict(text=asked(n), tokens=["x"]), answers=[dict(text=city(n), tokens=["x"]), dict(text=city(n) + " city", tokens=["x"])]), city, is_city),
    FileKind("pubmedqa", lambda n: dict(pubid=n, question=asked(n), context=dict(contexts=["One.", "Two."], labels=["AIM", "END"], meshes=["x"]), long_answer="It is long.", final_decision=pick("yes", "no", "maybe")(n)), pick("yes", "no", "maybe"), lambda n: f"The answer is {pick('yes', 'no', 'maybe')(n)}."),
    FileKind("wikitablequestions", lambda n: dict(id=f"nt-{n}", question=asked(n), answers=[city(n)], table=dict(header=["a", "b"], rows=[["1", "2"], ["3", "4"]], name="csv/1.csv")), city, is_city),
    FileKind("finqa", lambda n: dict(id=str(n), pre_text=["Before."], post_text=["After."], table=[["", "2019"], ["sold", "5"]], question=asked(n), answer=city(n)), city, is_city),
    FileKind("dream", lambda n: dict(id=n, dialogue=["M: Hi.", "W: Ho."], question=asked(n), choice=names(n), answer=city(n)), letter, is_letter),
    FileKind("folio", lambda n: dict(premises=["One.", "Two."], conclusion=asked(n), label=pick("True", "False", "Uncertain")(n)), pick("True", "False", "Uncertain"), lambda n: f"The answer is {pick('True', 'False', 'Uncertain')(n)}."),
    FileKind("belebele", lambda n: dict(link="u", flores_passage="A text.", question=asked(n), **{f"mc_answer{k + 1}": one for k, one in enumerate(names(n))}, correct_answer_num=str(place(n) + 1)), letter, is_letter),
    FileKind("mathqa", lambda n: dict(Problem=asked(n), Rationale="It is long.", options=" , ".join(f"{mark} ) {one}" for mark, one in zip("abcd", names(n), strict=True)), correct=letter(n).lower(), category="x"), letter, is_letter),
    FileKind("casehold", lambda n: dict(citing_prompt=asked(n), **{f"holding_{k}": one for k, one in enumerate(names(n))}, label=str(place(n))), letter, is_letter),
    FileKind("big-bench, with scores", lambda n: dict(inputs=asked(n), targets=[city(n)], multiple_choice_targets=names(n), multiple_choice_scores=[int(k == place(n)) for k in range(4)], idx=n), letter, is_letter),
    FileKind("headqa", lambda n: dict(qid=n, qtext=asked(n), ra=place(n) + 1, answers=[dict(aid=k + 1, atext=one) for k, one in enumerate(names(n))]), letter, is_letter),
    FileKind("in brackets, as the prompt wants it", lambda n: dict(question=asked(n), answer=f"[[{city(n)}]]"), lambda n: f"[[{city(n)}]]", lambda n: f"It is [[{city(n)}]]."),
    FileKind("cluewsc", lambda n: dict(target=dict(span1_text="a", span2_text="b"), label="true" if n % 2 else "false", text=asked(n)), lambda n: "true" if n % 2 else "false", lambda n: f"The answer is {'true' if n % 2 else 'false'}."),
    FileKind("scibench", lambda n: dict(problem_text=asked(n), answer_latex=f"{n}.5", answer_number=f"{n}.5", unit="m", comment="", solution="It is long.", problemid="x"), lambda n: f"{n}.5", lambda n: f"It is {n}.5."),
    FileKind("swag", lambda n: {"video-id": "x", "startphrase": asked(n), "sent1": "a", "sent2": "b", "gold-source": "gold", **{f"ending{k}": one for k, one in enumerate(names(n))}, "label": place(n)}, letter, is_letter),
    FileKind("list in a cell of a TSV", lambda n: dict(question=asked(n), possible_answers='"' + json.dumps([city(n), "no city"]).replace('"', '""') + '"'), city, is_city),
    FileKind("langsmith", lambda n: dict(inputs=dict(question=asked(n)), outputs=dict(answer=city(n))), city, is_city),
    FileKind("openai evals", lambda n: dict(input=[dict(role="system", content="Be brief."), dict(role="user", content=asked(n))], ideal=city(n)), city, is_city),
    FileKind("openai evals, two golds", lambda n: dict(input=[dict(role="user", content=asked(n))], ideal=[city(n), "the " + city(n)]), city, is_city),
    FileKind("inspect", lambda n: dict(input=asked(n), target=city(n), id=n, metadata=dict(level=1)), city, is_city),
    FileKind("deepeval", lambda n: dict(input=asked(n), expected_output=city(n), actual_output=None, context=None), city, is_city),
    FileKind("sharegpt", lambda n: dict(id=str(n), conversations=[{"from": "human", "value": asked(n)}, {"from": "gpt", "value": city(n)}]), city, is_city),
    FileKind("prompt and completion", lambda n: dict(prompt=asked(n), completion=city(n)), city, is_city),
    FileKind("alpaca, some without input", lambda n: dict(instruction=asked(n) if n % 2 else "Name the capital.", input="" if n % 2 else COUNTRIES[n], output=city(n)), city, is_city),
    FileKind("query and response", lambda n: dict(query=asked(n), response=city(n), history=[]), city, is_city),
    FileKind("unknown names", lambda n: dict(nummer=n, frage=asked(n), hauptstadt=city(n)), city, is_city),
    FileKind("natural questions", lambda n: dict(question=asked(n), answer=[city(n), city(n) + " city"]), city, is_city),
    FileKind("triviaqa", lambda n: dict(question=asked(n), question_id=f"q{n}", answer=dict(value=city(n), aliases=[city(n), "The " + city(n)], normalized_value=city(n).lower())), city, is_city),
    FileKind("drop", lambda n: dict(passage="A text.", question=asked(n), answers_spans=dict(spans=[city(n)], types=["span"]), answer=city(n)), city, is_city),
    FileKind("simpleqa", lambda n: dict(metadata="{'topic': 'Geography'}", problem=asked(n), answer=city(n)), city, is_city),
    FileKind("popqa", lambda n: dict(question=asked(n), possible_answers=json.dumps([city(n), "The " + city(n)]), prop="capital"), city, is_city),
    FileKind("empty context", lambda n: dict(context="" if n % 2 else "A text.", question=asked(n), answer=city(n)), city, is_city),
    FileKind("null context", lambda n: dict(question=asked(n), context=None if n % 2 else "A text.", answer=city(n)), city, is_city),
    FileKind("list in a cell", lambda n: dict(question=asked(n), answers=str([city(n), "x" + city(n)])), city, is_city),
    # --- labels ---
    FileKind("boolq", lambda n: dict(passage="Ice floats.", question="does ice float", answer=bool(n % 2)), pick("false", "true"), pick("That is false.", "It is true."), "It could be true or false."),
    FileKind("yes_no", lambda n: dict(question="Is it even?", answer=("No", "Yes")[n % 2]), pick("no", "yes"), pick("No, it is not.", "Yes, it is."), "There is no way to know that."),
    FileKind("yes, Yes and YES", lambda n: dict(question="Is it even?", answer=("no", "Yes", "NO", "yes", "No", "YES")[n % 6]), pick("no", "yes"), pick("No.", "The answer is yes."), "Yes or no?"),
    FileKind("strategyqa", lambda n: dict(question="Can it swim?", answer=bool(n % 2), facts=["It has fins."]), pick("false", "true"), pick("The answer is false.", "The answer is true.")),
    FileKind("nli", lambda n: dict(premise="It rains.", hypothesis="It is wet.", label=("entailment", "neutral", "contradiction")[n % 3]), pick("entailment", "neutral", "contradiction"), pick("This is entailment.", "The relation is neutral.", "It's a contradiction."), "Either entailment or neutral."),
    FileKind("rte", lambda n: dict(sentence1="It rains.", sentence2="It is wet.", label=("entailment", "not_entailment")[n % 2]), pick("entailment", "not_entailment"), pick("I would call it entailment.", "This is not entailment.")),
    FileKind("sentiment", lambda n: dict(review="So so.", sentiment=("positive", "negative")[n % 2]), pick("positive", "negative"), pick("The review is positive.", "**Negative**"), "It is neither positive nor negative."),
    FileKind("ag news", lambda n: dict(text="News.", label_text=("World", "Sports", "Business", "Sci/Tech")[n % 4], label=n % 4), pick("World", "Sports", "Business", "Sci/Tech"), pick("Category: World", "It belongs to Sports.", "Business.", "Sci/Tech"), "World, Sports, Business or Sci/Tech?"),
    FileKind("intent", lambda n: dict(utterance="Book it.", intent=("book_flight", "cancel_order", "get_weather")[n % 3]), pick("book_flight", "cancel_order", "get_weather"), pick("The intent is `book_flight`.", "cancel order", "Intent: get_weather"), "I am not sure."),
    FileKind("number labels", lambda n: dict(text="So so.", label=n % 2), pick("0", "1"), pick("The label is 0.", "Label: 1"), "I cannot say."),
    FileKind("true_false", lambda n: dict(statement="Ice floats.", label=("TRUE", "FALSE")[n % 2]), pick("True", "False"), pick("The statement is true.", "That is false."), "It may be true, it may be false."),
    FileKind("claims", lambda n: dict(claim="Ice floats.", evidence="It does.", label=("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")[n % 3]), pick("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"), pick("Label: SUPPORTS", "The evidence refutes the claim. Answer: REFUTES", "not enough info")),
    # --- numbers ---
    FileKind("sums", lambda n: dict(question="How many?", answer=3 * n + 40), lambda n: str(3 * n + 40), lambda n: f"The answer is {3 * n + 40}."),
    FileKind("euros", lambda n: dict(question="How much?", answer=f"{n + 3},50 €"), lambda n: f"{n + 3},50 €", lambda n: f"The answer is {n + 3},50 €."),
    FileKind("german thousands", lambda n: dict(question="Wie viel?", answer=f"1.{n + 100},50 €" if n % 2 else f"1.{n + 100} €"), lambda n: f"{n + 1100},50 €" if n % 2 else f"{n + 1100} Euro", lambda n: f"Die Antwort: 1.{n + 100}{',50' * (n % 2)} €"),
    FileKind("percent", lambda n: dict(question="How much?", answer=f"{n + 3}%"), lambda n: f"{n + 3}%", lambda n: f"The answer is {n + 3}%."),
    FileKind("dollars", lambda n: dict(question="How much?", answer=f"${money(n):,}"), lambda n: f"${money(n):,}", lambda n: f"The total is ${money(n):,}."),
    FileKind("gsm8k", lambda n: dict(question="How many?", answer=f"Add.\n#### {money(n):,}"), lambda n: str(money(n)), lambda n: f"So the answer is {money(n)}."),
    FileKind("svamp", lambda n: dict(Body="Ann has 3.", Question="How many?", Answer=float(n + 20), Type="Addition"), lambda n: str(n + 20), lambda n: f"The answer is {n + 20}."),
    FileKind("aime", lambda n: dict(ID=f"2024-{n}", Problem="Find it.", Solution="Long.", Answer=100 + n), lambda n: str(100 + n), lambda n: f"The answer is \\boxed{{{100 + n}}}."),
    FileKind("math-500", lambda n: dict(problem="Find it.", solution=f"So $\\boxed{{\\frac{{{n + 1}}}{{17}}}}$.", answer=f"\\frac{{{n + 1}}}{{17}}", subject="Algebra", level=2), lambda n: f"$\\frac{{{n + 1}}}{{17}}$", lambda n: f"The answer is $\\boxed{{\\dfrac{{{n + 1}}}{{17}}}}$.", compares_formulas=True),
    FileKind("boxed numbers", lambda n: dict(problem="Find it.", solution=f"We add 1 and 2 and get $\\boxed{{{n + 50}}}$."), lambda n: str(n + 50), lambda n: f"The answer is \\boxed{{{n + 50}}}."),
    FileKind("numbers and a word", lambda n: dict(question="How many?", answer="None" if n == 7 else str(money(n))), lambda n: "None" if n == 7 else f"{money(n):,}", lambda n: "The answer is None." if n == 7 else f"So the answer is \\boxed{{{money(n)}}}.", "None of the 3 steps leads to one of the 4 numbers."),
    FileKind("gsm-plus", lambda n: dict(question="How many?", answer="Add.\n#### None" if n == 7 else f"Add.\n#### {n + 30}"), lambda n: "None" if n == 7 else str(n + 30), lambda n: "The answer is None." if n == 7 else f"The answer is {n + 30}."),
    FileKind("lengths in cm", lambda n: dict(question="How long?", answer=f"{n + 12} cm"), lambda n: rf"\boxed{{{n + 12} \text{{ cm}}}}", lambda n: f"The rope is {n + 12} centimeters long.", "It may be 12 cm or 13 cm."),
    FileKind("asdiv", lambda n: dict(body="Ann has 3.", question="How many?", answer=f"{n + 12} ({('apples', 'girls')[n % 2]})"), lambda n: str(n + 12), lambda n: f"The answer is {n + 12}."),
    FileKind("angles", lambda n: dict(question="Which angle?", answer=f"{n + 30}°"), lambda n: f"{n + 30}°", lambda n: f"The angle is {n + 30} degrees."),
    # --- dates ---
    FileKind("dates and a month", lambda n: dict(question="When?", answer="May 1970" if n == 7 else f"1969-07-{n + 10}"), lambda n: "May 1970" if n == 7 else f"July {n + 10}, 1969", lambda n: "It was in May 1970." if n == 7 else f"It was on {n + 10} July 1969.", "In May 1969 or May 1970."),
    FileKind("iso dates", lambda n: dict(question="When?", answer=f"1969-07-{n + 10}"), lambda n: f"1969-07-{n + 10}", lambda n: f"It was on July {n + 10}, 1969."),
    FileKind("english dates", lambda n: dict(question="When?", answer=f"July {n + 10}, 1969"), lambda n: f"July {n + 10}, 1969", lambda n: f"It was on {n + 10} July 1969.", "I do not know when that was."),
    FileKind("years in texts", lambda n: dict(question="When?", answer=str(1900 + n)), lambda n: str(1900 + n), lambda n: f"The answer is {1900 + n}."),
    # --- options ---
    FileKind("mmlu", lambda n: dict(question=asked(n), subject="geography", choices=names(n), answer=place(n)), letter, is_letter, "A, B, C and D are all possible."),
    FileKind("arc", lambda n: dict(id=n, question=asked(n), choices=dict(text=names(n), label=list("1234") if n % 2 else list("ABCD")), answerKey="1234"[place(n)] if n % 2 else letter(n)), letter, is_letter),
    FileKind("arc, list of objects", lambda n: dict(question=dict(stem=asked(n), choices=[dict(text=t, label=k) for k, t in lettered(n).items()]), answerKey=letter(n)), letter, is_letter),
    FileKind("commonsenseqa", lambda n: dict(question=asked(n), question_concept="city", choices=dict(label=list("ABCDE"), text=[*names(n), "no city"]), answerKey=letter(n)), letter, is_letter),
    FileKind("medqa", lambda n: dict(question=asked(n), answer=city(n), options=lettered(n), answer_idx=letter(n), meta_info="step1"), letter, is_letter),
    FileKind("medmcqa", lambda n: dict(question=asked(n), **{f"op{k.lower()}": t for k, t in lettered(n).items()}, cop=place(n), exp="x"), letter, is_letter),
    FileKind("hellaswag", lambda n: dict(ind=n, activity_label="Cities", ctx=asked(n), endings=names(n), label=str(place(n))), letter, is_letter),
    FileKind("swag", lambda n: dict(sent1=asked(n), startphrase=asked(n), **{f"ending{k}": t for k, t in enumerate(names(n))}, label=place(n)), letter, is_letter),
    FileKind("piqa", lambda n: dict(goal=asked(n), sol1=names(n)[0], sol2=names(n)[1], label=n % 2), pick("A", "B"), pick("The answer is A.", "(B)")),
    FileKind("winogrande", lambda n: dict(sentence="The _ is big.", option1=names(n)[0], option2=names(n)[1], answer=str(1 + n % 2)), pick("A", "B"), pick("The answer is A.", "The answer is B.")),
    FileKind("social iqa", lambda n: dict(context="A trip.", question=asked(n), answerA=names(n)[0], answerB=names(n)[1], answerC=names(n)[2], label=str(1 + n % 3)), pick("A", "B", "C"), pick("Answer: A", "Answer: B", "Answer: C")),
    FileKind("race", lambda n: dict(example_id=n, article="A text.", question=asked(n), options=names(n), answer=letter(n)), letter, is_letter),
    FileKind("sciq", lambda n: dict(question=asked(n), correct_answer=city(n), distractor1=city((n + 1) % 12), distractor2=city((n + 2) % 12), distractor3=city((n + 3) % 12), support="A text."), None, None),  # type: ignore[arg-type]
    FileKind("gpqa", lambda n: {"Question": asked(n), "Correct Answer": city(n), **{f"Incorrect Answer {k}": city((n + k) % 12) for k in (1, 2, 3)}}, None, None),  # type: ignore[arg-type]
    FileKind("open trivia", lambda n: dict(category="x", question=asked(n), correct_answer=city(n), incorrect_answers=[city((n + k) % 12) for k in (1, 2, 3)]), None, None),  # type: ignore[arg-type]
    FileKind("bigbench scores", lambda n: dict(input=asked(n), target_scores={t: int(t == city(n)) for t in names(n)}), letter, is_letter),
    FileKind("reclor", lambda n: dict(context="A text.", question=asked(n), answers=names(n), label=place(n), id_string=f"t{n}"), letter, is_letter),
    FileKind("truthfulqa", lambda n: dict(question=asked(n), mc1_targets=dict(choices=names(n), labels=[int(t == city(n)) for t in names(n)])), letter, is_letter),
    FileKind("marked options", lambda n: dict(question=asked(n), options=[dict(text=t, is_correct=t == city(n)) for t in names(n)]), letter, is_letter),
    FileKind("options in one text", lambda n: dict(question=asked(n), options="\n".join(f"{k}. {t}" for k, t in lettered(n).items()), answer=letter(n)), letter, is_letter),
    FileKind("options in one line", lambda n: dict(question=asked(n), options=" ".join(f"({k}) {t}" for k, t in lettered(n).items()), answer=f"({letter(n)})"), letter, is_letter),
    FileKind("options with bars", lambda n: dict(question=asked(n), choices="|".join(names(n)), answer=city(n)), letter, is_letter),
    FileKind("options of pandas", lambda n: dict(question=asked(n), choices=str(names(n)), answer=str(place(n))), letter, is_letter),
    FileKind("lettered options in a list", lambda n: dict(question=asked(n), options=[f"{k}. {t}" for k, t in lettered(n).items()], answer=letter(n)), letter, is_letter),
    FileKind("gold with its text", lambda n: dict(question=asked(n), **lettered(n), answer=f"{letter(n)}. {city(n)}"), letter, is_letter),
    FileKind("gold in words", lambda n: dict(question=asked(n), option_a=names(n)[0], option_b=names(n)[1], option_c=names(n)[2], option_d=names(n)[3], correct_option=f"Option {letter(n)}"), letter, is_letter),
    FileKind("small letters", lambda n: dict(question=asked(n), a=names(n)[0], b=names(n)[1], c=names(n)[2], d=names(n)[3], answer=letter(n).lower()), letter, is_letter),
    FileKind("counted from one", lambda n: dict(question=asked(n), options=names(n), correct=place(n) + 1), letter, is_letter),
    FileKind("empty fifth option", lambda n: dict(question=asked(n), **lettered(n), E="" if n % 2 else "no city", answer=letter(n)), letter, is_letter),
    FileKind("several letters", lambda n: dict(question="Which?", **lettered(n), answer=several(n)), several, lambda n: f"The correct options are {', '.join(several(n))}."),
    FileKind("several in a list", lambda n: dict(question="Which?", options=names(n), answer=list(several(n))), several, lambda n: f"The correct options are {', '.join(several(n))}."),
    FileKind("options in the question", lambda n: dict(question=asked(n) + "".join(f"\n{k}. {t}" for k, t in lettered(n).items()), answer=letter(n)), letter, is_letter),
    FileKind("bbh", lambda n: dict(input=f"{asked(n)}\nOptions:\n" + "\n".join(f"({k}) {t}" for k, t in lettered(n).items()), target=f"({letter(n)})"), letter, is_letter, "It is (A) or (B)."),
    FileKind("golds with their texts, options in the question", lambda n: dict(question=f"{asked(n)} {in_line(n)}", answer=f"{letter(n)}. {city(n)}"), letter, is_letter, "A, B, C and D are all possible."),
    FileKind("several letters, options in the question", lambda n: dict(question=f"Which? {in_line(n)}", answer=several(n)), several, lambda n: f"The correct options are {', '.join(several(n))}.", "无法确定，A、B、C、D都有可能。"),
    FileKind("lists of letters, options in the question", lambda n: dict(question=f"Which? {in_line(n)}", answer=list(several(n))), several, lambda n: f"The correct options are {', '.join(several(n))}.", "A or B"),
    FileKind("zh letters in words", lambda n: {"题目": asked_zh(n) + "".join(f" {k}. {t}" for k, t in zip("ABCD", names_zh(n), strict=True)), "答案": f"正确答案：{letter_zh(n)}。"}, letter_zh, lambda n: f"故选{letter_zh(n)}。", "可能是A，也可能是B。"),
    FileKind("zh several, options in the question", lambda n: {"题目": asked_zh(n) + "".join(f" {k}. {t}" for k, t in zip("ABCD", names_zh(n), strict=True)), "答案": "、".join(several(n))}, several, lambda n: f"答案：{several(n)}", "都有可能。"),
    FileKind("letters of another alphabet", lambda n: dict(question="Что? А) да Б) нет В) и то и другое", answer="АБВ"[n % 3]), lambda n: "АБВ"[n % 3], lambda n: f"Ответ: {'АБВ'[n % 3]}.", "А, Б и В возможны."),
    # --- labels of other forms ---
    FileKind("yes and no with a reason", lambda n: dict(question="Does it float?", answer=("Yes, it does.", "No, it sinks.", "No.")[n % 3]), pick("yes", "no", "no"), pick("Yes, it is light.", "No, it is not.", "The answer is no."), "Yes or no?"),
    FileKind("zh signs", lambda n: {"题目": "冰会浮。", "答案": "√×"[n % 2]}, pick("√", "×"), pick("正确。", "这个说法是错误的。"), "很难说对还是错。"),
    FileKind("zh traditional", lambda n: {"題目": "冰會浮。", "答案": "對錯"[n % 2]}, pick("對", "錯"), pick("這個說法是對的。", "錯。"), "很難說對還是錯。"),
    FileKind("ko labels", lambda n: dict(text="좋다.", label=("긍정", "부정")[n % 2]), pick("긍정", "부정"), pick("이 문장은 긍정입니다.", "부정적인 리뷰입니다."), "긍정이 아닙니다."),
    FileKind("labels in numbers", lambda n: dict(text="So so.", label=n % 4 + 8), lambda n: str(n % 4 + 8), lambda n: f"The label is {n % 4 + 8}.", "I cannot say."),
    # --- objects ---
    FileKind("object", lambda n: dict(text="Which?", expected=dict(city=city(n), n=n)), lambda n: json.dumps(dict(n=n, city=city(n))), lambda n: f"```json\n{json.dumps(dict(city=city(n), n=n), indent=1)}\n```"),
    FileKind("object in a text", lambda n: dict(input="Which?", output=json.dumps(dict(city=city(n), n=n))), lambda n: json.dumps(dict(n=n, city=city(n))), lambda n: f"Here it is: {json.dumps(dict(city=city(n), n=n))}"),
    FileKind("objects in code blocks", lambda n: dict(input="Which?", output=f'```json\n{{"city": "{city(n)}"}}\n```'), lambda n: json.dumps(dict(city=city(n))), lambda n: f"Here it is: {{'city': '{city(n)}',}}", "Paris, Tokyo or Rome"),
    FileKind("objects with a text", lambda n: dict(text="Which?", expected=dict(name=city(n), text="x y", value=n + 0.5)), lambda n: json.dumps(dict(value=n + 0.5, text="x y", name=city(n))), lambda n: f"```json\n{json.dumps(dict(name=city(n), text='x y', value=n + 0.5))}\n```", "x y"),
    FileKind("values with a unit", lambda n: dict(text="How much?", expected=dict(value=n + 0.5, unit="kg")), lambda n: json.dumps(dict(value=n + 0.5, unit="kg")), lambda n: f'It is {{"unit": "kg", "value": {n + 0.5}}}.', "3.5"),
    FileKind("complexwebquestions", lambda n: dict(question=asked(n), answers=[dict(answer=city(n), aliases=["the town of " + city(n)], answer_id="m.1")]), city, is_city),
    FileKind("solutions", lambda n: dict(question="How many?", answer=f"We add 3 to {n} and 27.\nThe answer is {n + 30}."), lambda n: str(n + 30), lambda n: f"The answer is {n + 30}.", "We add 3 to 30 and 27."),
    FileKind("tagged numbers", lambda n: dict(question="How many?", answer=f"<think>3 or 4?</think><answer>{n + 30}</answer>"), lambda n: str(n + 30), lambda n: f"<answer>{n + 30}</answer>"),
    FileKind("tagged texts", lambda n: dict(question=asked(n), answer=f"<think>Hm.</think>\n<answer>{city(n)}</answer>"), city, is_city),
    # --- tried when all others held, before anything was written for them: 22 of 30 held ---
    FileKind("squad, list of objects", lambda n: dict(context="A text.", question=asked(n), answers=[dict(text=city(n), answer_start=3)]), city, is_city),
    FileKind("dolly", lambda n: dict(instruction=asked(n), context="", response=city(n), category="open_qa"), city, is_city),
    FileKind("ultrafeedback", lambda n: dict(prompt=asked(n), chosen=[dict(role="user", content=asked(n)), dict(role="assistant", content=city(n))], rejected=[dict(role="user", content=asked(n)), dict(role="assistant", content="no")]), city, is_city),
    FileKind("svamp with its body", lambda n: dict(ID=f"c{n}", Body=f"Ann has {n}.", Question="How many?", Equation=f"( {n} + 20 )", Answer=n + 20.0), lambda n: str(n + 20), lambda n: f"The answer is {n + 20}."),
    FileKind("numbers with a suffix in the name", lambda n: dict(question_text=asked(n), answer_text=city(n), author="me", page=n * 7), city, is_city),
    FileKind("mmlu-pro", lambda n: dict(question_id=n, question=asked(n), options=[*names(n), "no city", "a lake"], answer=letter(n), answer_index=place(n), cot_content="", category="geo", src="x"), letter, is_letter),
    FileKind("agieval", lambda n: dict(passage="A text.", question=asked(n), options=[f"({k}){t}" for k, t in lettered(n).items()], label=letter(n), other=None), letter, is_letter),
    FileKind("options by number", lambda n: dict(question=asked(n), options={str(k): t for k, t in enumerate(names(n), 1)}, answer=str(place(n) + 1)), letter, is_letter),
    FileKind("stars", lambda n: dict(review="Fine.", stars=1 + n % 5), lambda n: str(1 + n % 5), lambda n: f"The answer is {1 + n % 5}."),
    FileKind("spam", lambda n: dict(message="Win!", category=("ham", "spam")[n % 2]), pick("ham", "spam"), pick("This is ham.", "This message is spam."), "It may be spam or ham."),
    FileKind("emotion", lambda n: dict(tweet="Oh.", emotion=("joy", "anger", "fear", "love")[n % 4]), pick("joy", "anger", "fear", "love"), pick("The emotion is joy.", "Anger", "I'd say fear.", "Emotion: love")),
    FileKind("times", lambda n: dict(question="When?", answer=f"{n + 1}:30 pm"), lambda n: f"{n + 1}:30 pm", lambda n: f"It starts at {n + 1}:30 pm."),
    FileKind("codes", lambda n: dict(question="Which?", answer=f"AB-{n + 100}"), lambda n: f"AB-{n + 100}", lambda n: f"The code is AB-{n + 100}."),
    FileKind("lengths", lambda n: dict(question="How far?", answer=f"{n + 12} km"), lambda n: f"{n + 12} km", lambda n: f"It is {n + 12} km away."),
    FileKind("negative numbers", lambda n: dict(question="How cold?", answer=-n - 3), lambda n: str(-n - 3), lambda n: f"The answer is {-n - 3}."),
    FileKind("decimals", lambda n: dict(question="How much?", answer=n + 0.25), lambda n: str(n + 0.25), lambda n: f"The answer is {n + 0.25}."),
    FileKind("fractions", lambda n: dict(question="How much?", answer=f"{n + 1}/17"), lambda n: f"{n + 1}/17", lambda n: f"The answer is {n + 1}/17."),
    FileKind("german dates", lambda n: dict(frage="Wann?", antwort=f"{n + 10}.07.1969"), lambda n: f"{n + 10}.07.1969", lambda n: f"The answer is {n + 10}.07.1969."),
    FileKind("names with initials", lambda n: dict(question="Who?", answer=f"J. R. {city(n)}"), lambda n: f"J. R. {city(n)}", lambda n: f"It was J. R. {city(n)}, I think."),
    FileKind("math23k", lambda n: {"id": str(n), "original_text": "一共多少?", "equation": f"x={n}+30", "ans": str(n + 30)}, lambda n: str(n + 30), lambda n: f"答案是{n + 30}。"),
    FileKind("cmath", lambda n: {"grade": 3, "question": "一共多少?", "golden": str(n + 30)}, lambda n: str(n + 30), lambda n: f"答案是{n + 30}。"),
    FileKind("tnews", lambda n: {"label": str(100 + n % 3), "label_desc": ("体育", "财经", "娱乐")[n % 3], "sentence": "新闻", "keywords": ""}, pick("体育", "财经", "娱乐"), pick("属于体育类。", "类别：财经", "这是娱乐新闻。")),
    FileKind("cmrc", lambda n: {"context": "一段文字。", "question": asked_zh(n), "answers": {"text": [zh(n)], "answer_start": [1]}}, zh, lambda n: f"答案是{zh(n)}。"),
    FileKind("gaokao", lambda n: {"question": asked_zh(n) + "".join(f" {k}. {t}" for k, t in zip("ABCD", names_zh(n), strict=True)), "answer": [letter_zh(n)], "score": 5}, letter_zh, lambda n: f"故选{letter_zh(n)}。"),
    FileKind("zh right, one sign", lambda n: {"题目": "冰会浮。", "答案": "对" if n % 2 else "错"}, pick("错", "对"), pick("这个说法是错的。", "对。"), "很难说对还是错。"),
    FileKind("zh several", lambda n: {"问题": "哪些?", "选项": names_zh(n), "答案": several(n)}, several, lambda n: f"答案：{several(n)}"),
    FileKind("zh money", lambda n: {"问题": "多少钱?", "答案": f"{n + 30}元"}, lambda n: f"{n + 30}元", lambda n: f"一共{n + 30}元。"),
    FileKind("zh names of columns with more words", lambda n: {"题目内容": asked_zh(n), "标准答案文本": zh(n), "题型": "填空"}, zh, lambda n: f"答案是{zh(n)}。"),
    FileKind("zh context", lambda n: {"文章": "一段文字。", "问题": asked_zh(n), "答案": zh(n)}, zh, lambda n: f"是{zh(n)}。"),
    # --- Chinese ---
    FileKind("zh text", lambda n: {"问题": asked_zh(n), "答案": zh(n)}, zh, lambda n: f"{LANDS[n]}的首都是{zh(n)}。", "我不知道。"),
    FileKind("zh options", lambda n: {"题目": asked_zh(n), **dict(zip("ABCD", names_zh(n), strict=True)), "答案": letter_zh(n)}, letter_zh, lambda n: f"答案是{letter_zh(n)}。", "可能是A，也可能是B。"),
    FileKind("zh options, texts", lambda n: {"题干": asked_zh(n), **{f"选项{k}": t for k, t in zip("ABCD", names_zh(n), strict=True)}, "正确答案": zh(n)}, letter_zh, lambda n: f"选{letter_zh(n)}"),
    FileKind("zh options, list", lambda n: {"问题": asked_zh(n), "选项": names_zh(n), "答案": letter_zh(n)}, letter_zh, lambda n: f"正确答案：{letter_zh(n)}"),
    FileKind("zh labels", lambda n: {"文本": "还行。", "标签": ("正面", "负面", "中性")[n % 3]}, pick("正面", "负面", "中性"), pick("这条评论是正面的。", "情感：负面", "属于中性评价。"), "可能是正面，也可能是负面。"),
    FileKind("zh yes", lambda n: {"问题": "对吗?", "答案": "是" if n % 2 else "否"}, pick("否", "是"), pick("否，不对。", "是的。"), "这是一个难题。"),
    FileKind("zh right", lambda n: {"题目": "冰会浮。", "答案": "正确" if n % 2 else "错误"}, pick("错误", "正确"), pick("这个说法是错误的。", "这个说法正确。"), "无法判断正确还是错误。"),
    FileKind("zh number", lambda n: {"题目": "多少?", "答案": n + 30}, lambda n: str(n + 30), lambda n: f"答案是{n + 30}。", "我算不出来。"),
    FileKind("zh percent", lambda n: {"题目": "多少?", "答案": f"{n + 30}%"}, lambda n: f"{n + 30}%", lambda n: f"答案是{n + 30}%。"),
    FileKind("zh date", lambda n: {"问题": "哪天?", "答案": f"1949年10月{n + 1}日"}, lambda n: f"1949年10月{n + 1}日", lambda n: f"那是1949年10月{n + 1}日。"),
    FileKind("zh chat", lambda n: dict(messages=[dict(role="user", content=asked_zh(n)), dict(role="assistant", content=zh(n))]), zh, lambda n: f"是{zh(n)}。"),
    FileKind("zh alpaca", lambda n: {"指令": "首都?", "输入": LANDS[n], "输出": zh(n)}, zh, lambda n: f"是{zh(n)}。"),
    # --- names of columns in other words and languages ---
    FileKind("camel case", lambda n: dict(id=n, userQuestion=asked(n), expectedAnswer=city(n), note="x"), city, is_city),
    FileKind("names with remarks", lambda n: {"No.": n, "Question:": asked(n), "Correct answer(s)": city(n), "Owner - team": "me"}, city, is_city),
    FileKind("german", lambda n: dict(Nr=n, Frage=asked(n), Antwort=city(n), Kategorie="x"), city, is_city),
    FileKind("german, options", lambda n: {"Frage": asked(n), **{f"Antwort {k}": t for k, t in lettered(n).items()}, "Richtige Antwort": letter(n)}, letter, is_letter),
    FileKind("spanish", lambda n: {"Pregunta": asked(n), **{f"Opción {k}": t for k, t in lettered(n).items()}, "Respuesta correcta": letter(n)}, letter, is_letter),
    FileKind("russian letters", lambda n: {"Вопрос": asked(n), **dict(zip("АБВГ", names(n), strict=True)), "Ответ": "АБВГ"[place(n)]}, letter, is_letter),
    FileKind("japanese", lambda n: {"番号": n, "質問": asked_zh(n), **{f"選択肢{k}": t for k, t in enumerate(names_zh(n), 1)}, "正解": place_zh(n) + 1}, letter_zh, is_letter_zh),
    FileKind("letters before the word", lambda n: {"题干": asked_zh(n), **{f"{k}选项": t for k, t in zip("ABCD", names_zh(n), strict=True)}, "正确答案": letter_zh(n)}, letter_zh, is_letter_zh),
    FileKind("chinese numerals", lambda n: {"题目": asked_zh(n), **{f"选项{k}": t for k, t in zip("一二三四", names_zh(n), strict=True)}, "答案": letter_zh(n)}, letter_zh, is_letter_zh),
    FileKind("numbered by any word", lambda n: {"Question": asked(n), **{f"Possibility {k}": t for k, t in enumerate(names(n), 1)}, "Correct Option": f"Option {place(n) + 1}"}, letter, is_letter),
    FileKind("kahoot", lambda n: {"Question - max 120 characters": asked(n), **{f"Answer {k} - max 75 characters": t for k, t in enumerate(names(n), 1)}, "Time limit (sec)": 20, "Correct answer(s)": place(n) + 1}, letter, is_letter),
    FileKind("optional answers", lambda n: {"Question Text": asked(n), "Answer 1": names(n)[0], "Answer 2": names(n)[1], "Answer 3 (Optional)": names(n)[2], "Answer 4 (Optional)": names(n)[3], "Correct Answer(s)": str(place(n) + 1)}, letter, is_letter),
    FileKind("labels in the cells", lambda n: dict(question=asked(n), **{k: f"{k}) {t}" for k, t in lettered(n).items()}, answer=letter(n)), letter, is_letter),
    FileKind("option_2", lambda n: dict(question=asked(n), **{f"option{k}": t for k, t in enumerate(names(n), 1)}, target=f"option{place(n) + 1}"), letter, is_letter),
    FileKind("number with a long name", lambda n: dict(question=asked(n), answers=names(n), correct_answer_id=place(n)), letter, is_letter),
    # --- options in one cell, golds in other spellings ---
    FileKind("options without blanks", lambda n: {"问题": asked_zh(n), "选项": "".join(f"{k}.{t}" for k, t in zip("ABCD", names_zh(n), strict=True)), "答案": letter_zh(n)}, letter_zh, is_letter_zh),
    FileKind("options with commas", lambda n: dict(Question=asked(n), Options=", ".join(names(n)), Answer=city(n)), letter, is_letter),
    FileKind("options by blanks", lambda n: dict(question=asked(n), options="\n".join(f"{k} {t}" for k, t in lettered(n).items()), answer=letter(n)), letter, is_letter),
    FileKind("several letters with other signs", lambda n: {"题干": asked_zh(n), **dict(zip("ABCD", names_zh(n), strict=True)), "答案": "；".join(several(n))}, several, lambda n: f"The correct options are {', '.join(several(n))}."),
    FileKind("several numbers", lambda n: dict(question=asked(n), **{f"option{k}": t for k, t in enumerate(names(n), 1)}, correct=",".join(str(ord(mark) - 64) for mark in several(n))), several, lambda n: f"The correct options are {', '.join(several(n))}."),
    FileKind("wide letters", lambda n: {"题目": asked_zh(n), **dict(zip("ABCD", names_zh(n), strict=True)), "答案": chr(ord(letter_zh(n)) + 0xFEE0)}, letter_zh, is_letter_zh),
    # --- objects and arrays ---
    FileKind("options in an object", lambda n: dict(vars=dict(question=asked(n), **lettered(n), answer=letter(n))), letter, is_letter),
    FileKind("lm-eval doc", lambda n: dict(doc_id=n, doc=dict(question=asked(n), choices=names(n), answer=place(n)), target=str(place(n))), letter, is_letter),
    FileKind("finqa, its own file", lambda n: dict(filename="A/1.pdf", pre_text=["Before."], table=[["", "2019"], ["sold", "5"]], post_text=["After."], qa=dict(question=asked(n), answer=city(n))), city, is_city),
    FileKind("mlflow", lambda n: dict(inputs=dict(question=asked(n)), expectations=dict(expected_response=city(n))), city, is_city),
    FileKind("mmlu, arrays of pandas", lambda n: dict(question=asked(n), subject="x", choices="[" + " ".join(map(repr, names(n))) + "]", answer=str(place(n))), letter, is_letter),
    FileKind("arc, arrays of pandas", lambda n: dict(question=asked(n), choices=f"{{'text': array({names(n)}, dtype=object), 'label': array(['A', 'B', 'C', 'D'], dtype=object)}}", answerKey=letter(n)), letter, is_letter),
    FileKind("squad, arrays of pandas", lambda n: dict(context="A text.", question=asked(n), answers=f"{{'text': array(['{city(n)}'], dtype=object), 'answer_start': array([177], dtype=int32)}}"), city, is_city),
    # --- chats ---
    FileKind("gemini", lambda n: dict(systemInstruction="Be brief.", contents=[dict(role="user", parts=[dict(text=asked(n))]), dict(role="model", parts=[dict(text=city(n))])]), city, is_city),
    FileKind("texts in parts", lambda n: dict(messages=[dict(role="user", content=[dict(type="text", text=asked(n))]), dict(role="assistant", content=[dict(type="text", text=city(n))])]), city, is_city),
    FileKind("batch request", lambda n: dict(custom_id=str(n), body=dict(model="m", messages=[dict(role="user", content=asked(n))]), expected=city(n)), city, is_city),
]  # fmt: skip
"""In `sciq` and others the options are shuffled, so the test asks for the letter."""


def raw_text(prompt: str) -> bool:
    """Return whether a prompt holds a value as Python writes it."""
    return any(mark in prompt for mark in ("[{", "{'", '["', "['", "None", "nan"))


def columns(rows: list[Mapping[str, Any]]) -> list[str]:
    return list(rows[0])
