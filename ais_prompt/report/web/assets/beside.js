// The same sample answered by two models, side by side, with word-level differences.

let beside = "";  // the model that the open sample is compared with

/** A choice of other models, and the two answers; `others` are the rows of the same sample, `redraw` draws it again. */
async function besideParts(row, shown, redraw) {
  const others = await source.others(row);
  if (!others.length) return [];
  const buttons = others.map((other) => {
    const isChosen = other.task.model === beside;
    return el("button", { type: "button", class: "chip", "aria-pressed": String(isChosen), onclick: () => { beside = isChosen ? "" : other.task.model; redraw(); } }, el("i", { class: `swatch ${other.state}` }), plain(other.task.model));
  });
  const choice = el("div", { class: "chips beside", role: "group", "aria-label": say("Compare with") }, el("span", { class: "soft" }, say("Compare with")), buttons);
  const other = others.find(({ task }) => task.model === beside);
  return other ? [choice, besideAnswers([row, other], [shown, await source.sample(other)])] : [choice];
}

/** The answers of both, turn by turn. */
function besideAnswers(rows, shown) {
  const texts = shown.map(({ chunk, sample }) => sample.requests.flatMap(({ answers }) => answers.map((answer) => answerText(chunk, answer))));
  const turns = Array.from({ length: Math.max(...texts.map(({ length }) => length)) }, (_, turn) => changedWords(texts[0][turn] ?? "", texts[1][turn] ?? ""));
  const cards = rows.map((row, side) => el("div", { class: "card" },
    el("h4", {}, el("i", { class: `swatch ${row.state}` }), plain(row.task.model), el("span", { class: "soft" }, ` ${stateWord(row.state)}, ${say("extracted")} ${row.extracted == null ? say("nothing") : plain(row.extracted)}`)),
    turns.map((turn) => el("div", { class: "answer" }, markedText(turn[side])))));
  return el("section", { class: "cards two" }, cards);
}

function answerText(chunk, answer) {
  if (answer.failure) return `${answer.failure.kind}: ${answer.failure.message}`;
  return answer.text ? textOf(chunk, answer.text) : "";
}
