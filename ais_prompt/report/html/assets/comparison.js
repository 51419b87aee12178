"use strict";
// A comparison of two runs: the table, the causes of each difference, and the samples that changed.

const STEP = 50;  // changed samples shown at once
const data = JSON.parse(byId("data").textContent);

followTheme(byId("theme"));
byId("subtitle").textContent = `${plain(data.before)} → ${plain(data.after)}`;
byId("notes").append(...data.notes.map((note) => el("li", { class: "note" }, plain(note))));
byId("table").append(differences());
byId("tasks").append(...data.comparisons.map(taskSection));

function differences() {
  const heads = ["dataset", "model", "metric", "before", "after", "difference", "95 %", "n", "worse", "better", "p (Holm)"];
  return el("table", { class: "scores" },
    el("thead", {}, el("tr", {}, heads.map((head, place) => el("th", { scope: "col", class: place > 2 ? "number" : "" }, head)))),
    el("tbody", {}, data.comparisons.map((one, number) => el("tr", {},
      el("th", { scope: "row", class: "dataset" }, el("a", { href: `#task-${number}` }, plain(one.dataset))),
      el("td", { class: "model" }, plain(one.model)),
      el("td", {}, plain(one.metric)),
      [scored(one.before, one.fraction), scored(one.after, one.fraction)].map(numberCell),
      el("td", { class: `number score ${direction(one)}` }, signed(one.difference, one)),
      [one.interval ? one.interval.map((end) => signed(end, one)).join(" to ") : "", count(one.n), count(one.worse), count(one.better), one.p_adjusted == null ? "" : figure(one.p_adjusted)].map(numberCell),
    ))));
}

function numberCell(text) {
  return el("td", { class: "number" }, text);
}

/** The style of a significant difference; empty if it is not significant. */
function direction(one) {
  if (one.p_adjusted == null || one.p_adjusted >= 0.05) return "";
  return one.difference < 0 ? "fell" : "rose";
}

/** A difference, in points for percentages. */
function signed(number, one) {
  const value = one.fraction ? (100 * number).toFixed(1) : figure(number);
  return number > 0 ? `+${value}` : value.replace("-", "−");
}

function taskSection(one, number) {
  const shares = one.shares.map((share) => el("li", {}, el("b", {}, signed(share.difference, one)), ` ${share.interval ? `(${share.interval.map((end) => signed(end, one)).join(" to ")}) ` : ""}from ${plain(share.cause)}, ${counted(share.samples, "sample")}`));
  return el("section", { id: `task-${number}` },
    el("h2", {}, plain(`${one.model} / ${one.dataset}`)),
    el("ul", { class: "shares" }, shares, leftOut(one)),
    changes(one),
    flips(one));
}

function leftOut(one) {
  const kinds = [["only_before", "only in the first run"], ["only_after", "only in the second run"], ["failed_before", "without an answer in the first run"], ["failed_after", "without an answer in the second run"]];
  return kinds.filter(([key]) => one[key]).map(([key, words]) => el("li", { class: "note" }, `${counted(one[key], "sample")} ${words}, left out`));
}

function changes(one) {
  if (!one.changes.length) return el("p", { class: "soft" }, "The configs of the two runs do not differ.");
  const rows = one.changes.map((change) => el("tr", {}, el("th", { scope: "row" }, plain(change.part)), el("td", {}, wholeText(change.before)), el("td", {}, wholeText(change.after))));
  const head = ["part", "before", "after"].map((name) => el("th", { scope: "col" }, name));
  return el("div", { class: "scroll" }, el("table", { class: "runs" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)));
}

/** The changed samples, filtered by direction, in steps. */
function flips(one) {
  if (!one.flips.length) return el("p", { class: "soft" }, "No sample changed.");
  const list = el("div", { class: "flips" });
  const show = (chosen, from) => {
    list.append(...chosen.slice(from, from + STEP).map(flip));
    if (chosen.length <= from + STEP) return;
    const more = el("button", { type: "button", class: "more" }, `Show more (${count(chosen.length - from - STEP)} left)`);
    more.addEventListener("click", () => { more.remove(); show(chosen, from + STEP); });
    list.append(more);
  };
  const kinds = { worse: one.flips.filter((flip) => flip.after < flip.before), better: one.flips.filter((flip) => flip.after > flip.before) };
  const chips = Object.entries(kinds).map(([name, chosen]) => el("button", { type: "button", class: "chip", "aria-pressed": "false", disabled: !chosen.length, onclick: () => choose(name) }, el("i", { class: `swatch ${name === "worse" ? "wrong" : "right"}` }), `${name} `, el("span", { class: "soft" }, count(chosen.length))));
  const choose = (name) => {
    chips.forEach((chip, place) => chip.setAttribute("aria-pressed", String(Object.keys(kinds)[place] === name)));
    list.replaceChildren();
    show(kinds[name], 0);
  };
  choose(kinds.worse.length ? "worse" : "better");
  return [el("div", { class: "chips" }, chips), list];
}

function flip(one) {
  const [before, after] = ["before", "after"].map((when, place) => el("div", { class: "card" },
    el("h4", {}, `${when}, extracted ${plain(JSON.stringify(one.extracted[place]) ?? "nothing")}`),
    el("div", { class: "answer" }, wholeText(asText(one.answers[place])))));
  return el("details", { class: "flip" },
    el("summary", {}, `row ${one.index}, sample ${plain(one.id)}`, el("span", { class: "tag" }, one.same_prompt ? "same prompt" : "other prompt"), ` gold ${plain(asText(one.gold)).slice(0, 80)}`),
    one.same_prompt ? prompt(one.prompts[1], "prompt") : [prompt(one.prompts[0], "prompt before"), prompt(one.prompts[1], "prompt after")],
    el("div", { class: "cards" }, before, after));
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
