// Draw one sample: its score, the requests exactly as sent, and the answers.

/** Draw a sample into its panel. `shown` is from `source.sample`; `actions` are `previous`, `next` and `close`. */
async function drawSample(panel, row, shown, position, actions) {
  const { chunk, sample } = shown;
  const redraw = () => drawSample(panel, row, shown, position, actions);
  const besides = await besideParts(row, shown, redraw);
  const prompts = sample.requests.flatMap((request, number) => requestParts(shown, request, number));
  panel.replaceChildren(heading(row, position, actions), verdictPart(chunk, sample, row), ...columnPart(sample), ...besides, ...originsPart(row), ...labelParts(shown), ...prompts, ...predictionPart(chunk, sample), ...judgementParts(shown));
  panel.scrollTop = 0;
  writeAddress();
}

function heading(row, position, actions) {
  const button = (text, label, action) => el("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
  const place = el("p", { class: "soft" }, `${plain(row.task.dataset)} · ${plain(row.task.model)} · ${say("row")} ${row.index} · `, el("span", { class: "id" }, plain(row.id)));
  return el("header", {}, el("div", {}, el("h3", {}, el("i", { class: `swatch ${row.state}` }), stateWord(row.state), el("span", { class: "soft" }, ` ${position}`)), place), el("nav", {}, button("↑", say("Previous sample (k)"), actions.previous), button("↓", say("Next sample (j)"), actions.next), button("✕", say("Close (Esc)"), actions.close)));
}

/** Extracted answer and gold of each evaluator, the values, and the reason if the sample is not scored. */
function verdictPart(chunk, sample, row) {
  const all = [sample.verdicts, ...sample.further.map((one) => one.verdicts)];
  const several = all.some((verdicts) => verdicts.length > 1);
  const repeated = all.flat().some((verdict) => verdict.status);
  const head = [several ? el("td") : null, header("", say("Extracted")), el("th", { scope: "col", title: say(GOLD) }, say("Gold")), repeated ? header("", say("State")) : null, repeated ? header("number", say("Score")) : null];
  const lines = (verdicts) => verdicts.map((verdict, number) => el("tr", {}, several ? el("th", { scope: "row", class: "soft" }, verdicts.length > 1 ? String(number + 1) : "") : null, value(chunk, verdict.extracted, say("nothing"), verdict.reading), value(chunk, verdict.gold, say("none")), repeated ? [cell("", verdict.status ? stateWord(verdict.status) : "", verdict.reason ? el("span", { class: "soft" }, ` ${plain(verdict.reason)}`) : null), cell("number", verdict.value == null ? "" : figure(verdict.value))] : null));
  const further = sample.further.map((one) => el("tbody", {}, el("tr", {}, el("th", { scope: "rowgroup", class: "evaluator", colspan: String(head.filter(Boolean).length) }, plain(one.evaluator), " ", el("span", { class: "soft" }, stateWord(one.status)))), lines(one.verdicts)));
  const values = Object.entries(sample.values).map(([metric, number]) => el("li", {}, el("span", { class: "soft" }, `${plain(metric)} `), el("b", {}, number == null ? say("none") : figure(number))));
  const reasons = [sample.reason, sample.failed_turn && say("turn {number} has no answer", { number: sample.failed_turn })].filter(Boolean);
  return el("section", { class: `verdict ${row.state}` }, el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, lines(sample.verdicts)), further), values.length ? el("ul", { class: "values" }, values) : null, reasons.length ? el("p", { class: "reason" }, plain(reasons.join(" · "))) : null);
}

function value(chunk, numbers, nothing, reading) {
  return el("td", {}, numbers ? wholeText(textOf(chunk, numbers)) : el("span", { class: "soft" }, nothing), reading ? el("div", { class: "soft rule" }, say("extracted by “{rule}”, characters {start}–{end}", { rule: plain(reading.rule), start: reading.start, end: reading.end })) : null);
}

/** From a sample to its prompts, which a server has; or to the first prompts of its dataset, where the run has kept them. */
function originsPart(row) {
  const question = [...byId("panel-prompts").children].find((one) => one.dataset.dataset === row.task.dataset);
  if (!data.served && !question) return [];
  const show = () => (data.served ? showChosenPrompts(row) : showPrompts(question));
  return [el("p", { class: "soft whence" }, el("button", { type: "button", class: "link", onclick: show }, say("Where the pieces of these prompts come from")))];
}

/** The labels of a choice: their figures, and the prompt of each label that has its own. */
function labelParts({ chunk, sample, neighbour, neighbourName }) {
  if (!sample.labels.length) return [];
  const figures = [...new Set(sample.labels.flatMap((label) => Object.keys(label.figures)))];
  const gold = sample.verdicts.map((verdict) => verdict.gold && textOf(chunk, verdict.gold));
  const head = el("tr", {}, el("th", { scope: "col" }, say("Label")), figures.map((name) => el("th", { scope: "col", class: "number" }, plain(name))));
  const rows = sample.labels.map(({ label, chosen, figures: values }) => el("tr", { class: chosen ? "chosen" : null }, el("th", { scope: "row" }, plain(label), chosen ? [" ", el("span", { class: "tag" }, say("chosen"))] : null, gold.includes(label) ? [" ", el("span", { class: "tag gold" }, say("gold"))] : null), figures.map((name) => cell("number", values[name] == null ? "" : figure(values[name], 5)))));
  const prompted = sample.labels.filter(({ prompt }) => prompt);
  const cards = prompted.map((label, number) => el("div", { class: "card" }, el("h4", {}, plain(label.label)), promptBlock(chunk, label.prompt, neighbour?.labels[number]?.prompt, neighbourName)));
  return [el("section", {}, el("h4", {}, say("Labels")), el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "labels" }, el("thead", {}, head), el("tbody", {}, rows))), cards.length ? el("div", { class: "cards" }, cards) : null)];
}

function requestParts({ chunk, sample, neighbour, neighbourName }, request, number) {
  const before = number ? sample.requests[number - 1].prompt : neighbour?.requests[0]?.prompt;
  const turn = sample.requests.length > 1 ? `${say("Turn {number}", { number: number + 1 })}: ` : "";
  const name = `${turn}${turn ? say("prompt") : say("Prompt")}`;
  const title = sample.shots && !number ? say("{one}, {other}", { one: name, other: counted(sample.shots, "shot") }) : name;
  const prompt = request.prompt ? [el("h4", {}, title), promptBlock(chunk, request.prompt, before, number ? say("the previous turn") : neighbourName)] : [];
  const several = request.answers.length > 1;
  const first = sample.requests.slice(0, number).reduce((sum, one) => sum + one.answers.length, 0);
  const whole = sample.requests.reduce((sum, one) => sum + one.answers.length, 0) === sample.verdicts.length && !sample.prediction;
  const answers = request.answers.map((answer, place) => [el("h4", {}, several ? `${say("Answer")} ${place + 1}` : turn ? `${turn}${say("answer")}` : say("Answer")), ...answerBlock(chunk, answer, whole ? sample.verdicts[first + place].reading : null)]);
  return [el("section", {}, ...prompt, ...answers.flat())];
}

/** The prediction, if it is not the text that the model wrote. */
function predictionPart(chunk, sample) {
  if (!sample.prediction) return [];
  return [el("section", {}, el("h4", {}, say("Prediction")), el("div", { class: "answer" }, wholeText(textOf(chunk, sample.prediction))))];
}

/** Draw an answer with the extracted part marked. */
function answerBlock(chunk, answer, reading) {
  const thinking = answer.thinking ? [el("details", { class: "fold thinking" }, el("summary", {}, say("{one}, {other}", { one: say("Thinking"), other: counted(answer.thinking.length, "line") })), eitherText(textOf(chunk, answer.thinking), true))] : [];
  const failure = answer.failure ? [el("p", { class: "failure" }, el("b", {}, plain(answer.failure.kind)), " ", ...visible(answer.failure.message))] : [];
  const text = answer.text ? [el("div", { class: "answer" }, eitherText(textOf(chunk, answer.text), true, reading))] : [];
  return [...thinking, ...failure, ...text, ...(answer.tool_calls ?? []).map((call) => toolCall(chunk, call)), el("p", { class: "facts soft" }, answerFacts(answer).join(" · ")), ...(answer.steps ? [stepsPart(chunk, answer.steps)] : []), ...(answer.files ? [filesPart(chunk, answer.files)] : [])];
}

/** A call of a tool that the model asked for, its arguments indented if they are JSON. */
function toolCall(chunk, call) {
  const text = textOf(chunk, call.arguments);
  let indented = text;
  try { indented = JSON.stringify(JSON.parse(text), null, 2); } catch { /* shown as the model wrote it */ }
  return el("div", { class: "tool-call" }, el("span", { class: "role" }, say("calls {tool}", { tool: plain(call.name) })), wholeText(indented));
}

/** What judges were asked about the answer, and what they said. */
function judgementParts({ chunk, sample }) {
  return sample.judgements.map((request, number) => {
    const title = sample.judgements.length > 1 ? `${say("Judge")} ${number + 1}: ${plain([request.evaluator, request.judge].filter(Boolean).join(" · "))}` : say("Judge");
    const order = request.swapped ? say("the reference answer comes first") : null;
    const verdict = request.verdict === null || request.criteria.length ? null : `${say("verdict")}: ${plain(String(request.verdict))}`;
    const facts = [order, verdict].filter(Boolean).join(" · ");
    return el("section", { class: "judgement" }, el("h4", {}, title), facts ? el("p", { class: "soft" }, facts) : null, criteriaPart(chunk, request.criteria), el("details", { class: "fold" }, el("summary", {}, say("Prompt of the judge")), promptBlock(chunk, request.prompt ?? [], null, "")), ...request.answers.flatMap((answer) => answerBlock(chunk, answer, null)));
  });
}

/** What a reply says of each criterion of a rubric. */
function criteriaPart(chunk, criteria) {
  if (!criteria.length) return null;
  const words = { true: say("met"), false: say("not met"), partly: say("partly met"), null: say("nothing readable") };
  const rows = criteria.map(({ criterion, said }) => el("tr", {}, el("td", {}, wholeText(textOf(chunk, criterion))), cell("", words[said] ?? figure(said))));
  return el("table", { class: "criteria" }, el("thead", {}, el("tr", {}, header("", say("Criterion")), header("", say("Verdict")))), el("tbody", {}, rows));
}

/** The columns of the row. */
function columnPart(sample) {
  const columns = Object.entries(sample.columns);
  return columns.length ? [el("ul", { class: "values soft" }, columns.map(([name, text]) => el("li", {}, `${plain(name)} `, el("b", {}, plain(String(text))))))] : [];
}

function answerFacts(answer) {
  const endings = { length: say("cut at max_out_len"), stop: say("stopped by the model") };
  return [
    answer.unclosed ? say("thinking did not end") : null,
    answer.refused ? say("refused") : null,
    answer.text && endings[answer.finish_reason],
    answer.prompt_tokens == null ? null : say("{number} in", { number: counted(answer.prompt_tokens, "token") }),
    answer.completion_tokens == null ? null : say("{number} out", { number: count(answer.completion_tokens) }),
    answer.nll == null ? null : say("negative log-likelihood {number} nats", { number: figure(answer.nll) }),
    answer.seconds ? seconds(answer.seconds) : null,
    answer.first_token_seconds ? say("first token after {time}", { time: seconds(answer.first_token_seconds) }) : null,
    answer.retried_with ? say("asked again with max_out_len={number}: the first answer was cut", { number: answer.retried_with }) : null,
    answer.attempts > 1 ? say("{number} attempts", { number: answer.attempts }) : null,
  ].filter(Boolean);
}
