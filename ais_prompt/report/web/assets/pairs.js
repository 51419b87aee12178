// A question with the answers of two sides: both answers with their differences marked, and the prompts.

const STEP = 50;  // items of a list shown at once

/** A difference, in points for percentages. */
function signed(number, one) {
  const value = one.fraction ? fixed(100 * number, 1) : figure(number);
  return number > 0 ? `+${value}` : value.replace("-", "−");
}

/** Draw items into a list, `STEP` at once. */
function appendInSteps(list, items, draw, from = 0) {
  list.append(...items.slice(from, from + STEP).map(draw));
  if (items.length <= from + STEP) return;
  const more = el("button", { type: "button", class: "more" }, say("Show more ({number} left)", { number: count(items.length - from - STEP) }));
  more.addEventListener("click", () => { more.remove(); appendInSteps(list, items, draw, from + STEP); });
  list.append(more);
}

/** The answers of a pair side by side, below the title of each. */
function answerCards(pair, titles) {
  const words = changedWords(...pair.answers.map(asText));
  return el("div", { class: "cards two" }, titles.map((title, place) => el("div", { class: "card" },
    el("h4", {}, `${title}, ${say("extracted")} ${plain(JSON.stringify(pair.extracted[place]) ?? say("nothing"))}`),
    el("div", { class: "answer" }, markedText(words[place])))));
}

function prompt(value, title) {
  return [el("h4", {}, title), el("div", { class: "prompt" }, Array.isArray(value) ? value.flat().map(message) : wholeText(asText(value)))];
}

function message(one) {
  if (typeof one === "string") return el("div", { class: "message" }, wholeText(one));
  return el("div", { class: `message ${["system", "user", "assistant"].includes(one.role) ? one.role : ""}` }, el("span", { class: "role" }, plain(String(one.role))), wholeText(asText(one.content)));
}

function asText(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 1) ?? "";
}
