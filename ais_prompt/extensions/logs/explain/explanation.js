"use strict";
// Why two scores differ: of each dataset the sentence, the causes, the scores by either rule, and the pairs of each cause.

const data = JSON.parse(byId("data").textContent);

sayFrame();
followTheme(byId("theme"));
byId("subtitle").textContent = `${plain(data.before)} → ${plain(data.after)}`;
byId("notes").append(...data.notes.map((note) => el("li", { class: "note" }, plain(note))));
byId("explanations").append(...data.explanations.map(explanation));

function explanation(one) {
  const datasets = [...new Set([one.before.dataset, one.after.dataset])].map(plain).join(" → ");
  return el("section", {},
    el("h2", {}, datasets),
    el("p", {}, plain(one.sentence)),
    el("ul", { class: "shares" }, facts(one).map((fact) => el("li", {}, fact))),
    table(["cause", "share", "95 %", "samples", "certainty", "because"], one.steps.map((step) => causeRow(step, one))),
    table(["answers of", ...one.titles.map((title) => say("by {rule}", { rule: plain(title) }))], one.scores_by_rule.map((scores, side) => [plain(one.titles[side]), ...scores.map((score) => (score == null ? say("unknown") : scored(score, one.fraction)))])),
    pairsByCause(one));
}

/** What is known of the logs beside the causes, in sentences. */
function facts(one) {
  const { pairing } = one;
  const ways = Object.entries(pairing.ways).map(([way, number]) => `${count(number)} ${say("by {way}", { way: say(way) })}`);
  const left = [pairing.only_before, pairing.only_after].flatMap((number, side) => (number ? [say("{number} only in {log}", { number: count(number), log: plain(one.titles[side]) })] : []));
  const rules = one.rules.map((rule, side) => `${say("rule of {log}", { log: plain(one.titles[side]) })}: ${[one.before, one.after][side].rule == null ? say(rule) : plain(rule)}`);
  const requests = Object.entries(one.requests).map(([name, values]) => `${plain(name)}: ${values.map((value) => (value == null ? say("not sent") : plain(JSON.stringify(value)))).join(" → ")}`);
  return [`${counted(pairing.paired, "pair")}: ${[...ways, ...left].join(", ")}`, ...(one.asked ? [plain(one.asked.sentence)] : []), ...rules, ...requests];
}

function causeRow(step, one) {
  return [plain(step.cause), signed(step.difference, one), step.interval ? step.interval.map((end) => signed(end, one)).join(" to ") : "", step.samples ? count(step.samples) : "", say(step.certainty), plain(step.why)];
}

/** A table whose first column names the rows. */
function table(heads, rows) {
  const row = ([name, ...cells]) => el("tr", {}, el("th", { scope: "row" }, name), cells.map((cell) => el("td", {}, cell)));
  return el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "runs" }, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, say(head))))), el("tbody", {}, rows.map(row))));
}

/** The pairs of one cause at a time; a switch leaves only those whose scores differ. */
function pairsByCause(one) {
  const steps = one.steps.filter(({ pairs }) => pairs.length);
  if (!steps.length) return el("p", { class: "soft" }, say("No sample changed."));
  const list = el("div", { class: "flips" });
  let [chosen, isChanged] = [steps[0], false];
  const chip = (label, onclick) => el("button", { type: "button", class: "chip", onclick }, label);
  const chips = steps.map((step) => chip([`${plain(step.cause)} `, el("span", { class: "soft" }, count(step.samples))], () => { chosen = step; show(); }));
  const changed = chip(say("only other scores"), () => { isChanged = !isChanged; show(); });
  const show = () => {
    chips.forEach((button, place) => button.setAttribute("aria-pressed", String(steps[place] === chosen)));
    changed.setAttribute("aria-pressed", String(isChanged));
    const pairs = chosen.pairs.filter(({ values }) => !isChanged || values[0] !== values[1]);
    list.replaceChildren();
    appendInSteps(list, pairs, (pair) => pairDetails(pair, one));
    if (chosen.samples > chosen.pairs.length) list.append(el("p", { class: "soft" }, say("{number} left out", { number: count(chosen.samples - chosen.pairs.length) })));
  };
  show();
  return [el("div", { class: "chips" }, chips, changed), list];
}

function pairDetails(pair, one) {
  const golds = [...new Set(pair.golds.map(asText))].join(" | ");
  const scores = pair.values.map((value) => figure(value)).join(" → ");
  const direction = pair.values[0] === pair.values[1] ? "answered" : (pair.values[0] > pair.values[1]) !== one.lower_is_better ? "wrong" : "right";
  const drawn = el("details", { class: "flip" }, el("summary", {}, el("i", { class: `swatch ${direction}` }), `${say("question")} ${plain(pair.id)}`, el("span", { class: "soft" }, ` ${scores} · ${say("gold")} ${plain(golds).slice(0, 80)}`)));
  const same = asText(pair.prompts[0]) === asText(pair.prompts[1]);
  const prompts = () => (same ? prompt(pair.prompts[0], say("prompt")) : one.titles.flatMap((title, side) => prompt(pair.prompts[side], `${say("prompt")}: ${plain(title)}`)));
  drawn.addEventListener("toggle", () => drawn.append(answerCards(pair, one.titles.map(plain)), ...prompts()), { once: true });
  return drawn;
}
