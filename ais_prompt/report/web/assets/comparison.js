"use strict";
// A comparison of two runs: the table, the causes of each difference, and the samples that changed.

const ABOUT = { "95 %": "95 % interval of the difference", n: "samples that both have", "p (Holm)": "Probability of such a difference by chance, adjusted for the number of rows (Holm)" };
const FEW = 6;  // datasets in the order of the config; more are sorted, the worst first, and folded
const data = JSON.parse(byId("data").textContent);
const isSuite = data.comparisons.length > FEW;
if (isSuite) {
  data.comparisons.sort((a, b) => drop(a) - drop(b));
  data.means.sort((a, b) => Boolean(a.dataset) - Boolean(b.dataset) || drop(a) - drop(b));  // that over all datasets first
}

sayFrame();
followTheme(byId("theme"));
byId("title").textContent = say(data.is_models ? "Two models" : "Two runs");
byId("subtitle").textContent = `${plain(data.before)} → ${plain(data.after)}`;
byId("subtitle").append(...totals());
byId("notes").append(...data.notes.map((note) => el("li", { class: "note" }, plain(note))));
byId("table").append(...differences());
byId("tasks").append(...taskSections());
addEventListener("hashchange", openAddressed);
openAddressed();

/** How many samples of all datasets both models have right, only one of them, or none. */
function totals() {
  if (!data.is_models || data.comparisons.some((one) => one.both_right == null)) return [];
  const sum = (key) => data.comparisons.reduce((total, one) => total + one[key], 0);
  const [both, before, after] = ["both_right", "worse", "better"].map(sum);
  const parts = [[say("both right"), both], [say("only {model}", { model: plain(data.before) }), before], [say("only {model}", { model: plain(data.after) }), after], [say("both wrong"), sum("n") - both - before - after]];
  return [el("br"), parts.map(([label, number]) => `${label} ${count(number)}`).join(" · ")];
}

/** A difference, above 0 where the second side is better. */
function gain(one, difference = one.difference) {
  return one.lower_is_better ? -difference : difference;
}

/** A gain to sort by; one that is no percentage has no place among the others. */
function drop(one) {
  return one.fraction ? gain(one) : 0;
}

/** Unfold the dataset of the address. */
function openAddressed() {
  const section = location.hash && byId(location.hash.slice(1))?.querySelector("details");
  if (!section) return;
  section.open = true;
  section.scrollIntoView();
}

/** The name of a mean over datasets, beside its model. */
function meanName({ dataset, datasets }) {
  const mean = say("mean of {number} datasets", { number: count(datasets) });
  return dataset ? `${plain(dataset)}: ${mean}` : mean;
}

/** The table: means first, then the datasets; of many only the first, until a click shows all. */
function differences() {
  const isSame = (key) => new Set(data.comparisons.map((one) => one[key])).size === 1;
  const left = new Set(isSuite ? ["model", "metric"].filter(isSame) : []);
  const heads = ["dataset", "model", "metric", "before", "after", "difference", "95 %", "n", "worse", "better", "p (Holm)"].filter((head) => !left.has(head));
  const range = differenceRange();
  const means = data.means.filter(({ dataset }) => left.has("model") || !dataset).map((one) => ({ ...one, isMean: true }));
  const row = (one) => el("tr", { class: one.isMean ? "mean" : null },
    el("th", { scope: "row", class: "dataset" }, one.isMean ? meanName(one) : el("a", { href: `#task-${data.comparisons.indexOf(one)}` }, plain(one.dataset))),
    left.has("model") ? null : el("td", { class: "model" }, plain(one.model)),
    left.has("metric") ? null : el("td", { class: "metric soft" }, plain(one.metric ?? "")),
    [scored(one.before, one.fraction), scored(one.after, one.fraction)].map(numberCell),
    el("td", { class: `number score ${direction(one)}` }, signed(one.difference, one)),
    [one.interval ? one.interval.map((end) => signed(end, one)).join(" to ") : "", count(one.n), one.isMean ? "" : count(one.worse), one.isMean ? "" : count(one.better), one.p_adjusted == null ? "" : figure(one.p_adjusted)].map(numberCell),
    el("td", { class: "plotted" }, one.fraction ? forestPlot(one, range) : null));
  const body = el("tbody", {}, means.map(row), data.comparisons.slice(0, STEP).map(row));
  const rest = data.comparisons.slice(STEP);
  const more = el("button", { type: "button", class: "more", onclick: () => { body.append(...rest.map(row)); more.remove(); } }, say("Show more ({number} left)", { number: count(rest.length) }));
  return [el("table", { class: `scores${isSuite ? " suite" : ""}` },
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", class: ["dataset", "model", "metric"].includes(head) ? "" : "number", title: ABOUT[head] && say(ABOUT[head]) }, say(head))), el("th", { scope: "col", class: "plotted" }, axis(ticks(range).map((tick) => [scale(range)(tick) / WIDTH, signed(tick, { fraction: true }).replace(/\.0$/, "")]))))),
    body), ...(rest.length ? [more] : [])];
}

function numberCell(text) {
  return el("td", { class: "number" }, text);
}

/** The style of a significant difference; empty if it is not significant. */
function direction(one) {
  if ((one.p_adjusted ?? one.p ?? 1) >= 0.05) return "";
  return gain(one) < 0 ? "fell" : "rose";
}

/** The datasets, those without any change folded. */
function taskSections() {
  const isChanged = (one) => one.flips.length || one.changes.length || one.only_before || one.only_after || one.failed_before || one.failed_after;
  const sections = data.comparisons.map((one, number) => [isChanged(one), taskSection(one, number)]);
  const unchanged = sections.filter(([changed]) => !changed).map(([, section]) => section);
  const folded = unchanged.length ? [el("details", { class: "unchanged" }, el("summary", {}, `${counted(unchanged.length, "dataset")}: ${say("unchanged")}`), unchanged)] : [];
  return [...sections.filter(([changed]) => changed).map(([, section]) => section), ...folded];
}

/** Draw a difference as a dot, and its interval as a line, beside the line of no difference. */
function forestPlot(one, range) {
  const x = scale(range);
  const words = `${signed(one.difference, one)}${one.interval ? `, 95 % ${one.interval.map((end) => signed(end, one)).join(" to ")}` : ""}`;
  const grid = ticks(range).map((tick) => svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 0, y2: 20 }));
  const interval = one.interval ? svg("line", { class: "interval", x1: x(one.interval[0]), x2: x(one.interval[1]), y1: 10, y2: 10 }) : null;
  return svg("svg", { class: `plot ${direction(one)}`, viewBox: `0 0 ${WIDTH} 20`, role: "img", "aria-label": words }, svg("title", {}, words), grid, svg("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: 20 }), interval, svg("circle", { class: "dot", cx: x(one.difference), cy: 10, r: 4.2 }));
}

/** The range of all differences in points of percent, symmetric around 0. */
function differenceRange() {
  const ends = data.comparisons.filter((one) => one.fraction).flatMap((one) => [one.difference, ...(one.interval ?? [])]).map(Math.abs);
  const most = Math.max(0.01, ...ends);
  return [-most, most];
}

function taskSection(one, number) {
  const shares = one.shares.map((share) => el("li", {}, el("b", {}, signed(share.difference, one)), ` ${share.interval ? `(${share.interval.map((end) => signed(end, one)).join(" to ")}) ` : ""}from ${plain(share.cause)}, ${counted(share.samples, "sample")}`));
  const isNamed = isSuite && new Set(data.comparisons.map(({ model }) => model)).size === 1;
  const title = plain(isNamed ? one.dataset : `${one.model} / ${one.dataset}`);
  const undivided = one.undivided ? el("li", { class: "note" }, one.undivided) : null;
  const parts = () => [el("ul", { class: "shares" }, undivided, shares, leftOut(one)), changes(one), flips(one)];
  if (!isSuite) return el("section", { id: `task-${number}` }, el("h2", {}, title), parts());
  const folded = el("details", { class: "of-suite" }, el("summary", {}, title, el("span", { class: `soft ${direction(one)}` }, ` ${signed(one.difference, one)}`)));
  folded.addEventListener("toggle", () => folded.append(...parts().flat(Infinity).filter(Boolean)), { once: true });
  return el("section", { id: `task-${number}` }, folded);
}

function leftOut(one) {
  const kinds = [["only_before", say("only in the first run, left out")], ["only_after", say("only in the second run, left out")], ["failed_before", say("without an answer in the first run, left out")], ["failed_after", say("without an answer in the second run, left out")], ["without_gold", say("without a gold answer, left out")]];
  return kinds.filter(([key]) => one[key]).map(([key, words]) => el("li", { class: "note" }, `${counted(one[key], "sample")} ${words}`));
}

function changes(one) {
  if (!one.changes.length) return el("p", { class: "soft" }, say("The configs of the two runs do not differ."));
  const rows = one.changes.map((change) => el("tr", {}, el("th", { scope: "row" }, plain(change.part)), ...(change.words ? [el("td", { colspan: 2 }, wholeText(change.words))] : [el("td", {}, wholeText(change.before)), el("td", {}, wholeText(change.after))])));
  const head = ["part", "before", "after"].map((name) => el("th", { scope: "col" }, say(name)));
  return el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "runs" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)));
}

/** The changed samples, filtered by direction, in steps. */
function flips(one) {
  if (!one.flips.length) return el("p", { class: "soft" }, say("No sample changed."));
  const list = el("div", { class: "flips" });
  const isWorse = (flip) => gain(one, flip.after - flip.before) < 0;
  const kinds = { worse: one.flips.filter(isWorse), better: one.flips.filter((flip) => !isWorse(flip)) };
  const labels = one.both_right == null || !data.is_models ? { worse: say("worse"), better: say("better") } : { worse: say("only {model}", { model: plain(data.before) }), better: say("only {model}", { model: plain(data.after) }) };
  const chips = Object.entries(kinds).map(([name, chosen]) => el("button", { type: "button", class: "chip", "aria-pressed": "false", disabled: !chosen.length, onclick: () => choose(name) }, el("i", { class: `swatch ${name === "worse" ? "wrong" : "right"}` }), `${labels[name]} `, el("span", { class: "soft" }, count(chosen.length))));
  const choose = (name) => {
    chips.forEach((chip, place) => chip.setAttribute("aria-pressed", String(Object.keys(kinds)[place] === name)));
    list.replaceChildren();
    appendInSteps(list, kinds[name], (changed) => flip(changed, name));
  };
  choose(kinds.worse.length ? "worse" : "better");
  return [el("div", { class: "chips" }, chips, same(one)), list];
}

/** The samples that did not change, of a metric that is right or wrong. */
function same(one) {
  if (one.both_right == null) return null;
  const bothWrong = one.n - one.both_right - one.worse - one.better;
  return el("span", { class: "soft" }, `${say("both right")} ${count(one.both_right)} · ${say("both wrong")} ${count(bothWrong)}`);
}

function flip(one, kind) {
  const drawn = el("details", { class: "flip" }, el("summary", {}, el("i", { class: `swatch ${kind === "worse" ? "wrong" : "right"}` }), plain(one.question), el("span", { class: "soft" }, ` ${say("row")} ${one.index}`), el("span", { class: "tag" }, say(one.same_prompt ? "same prompt" : "other prompt")), el("span", { class: "soft" }, ` ${say("gold")} ${plain(asText(one.gold)).slice(0, 80)}`)));
  const fill = () => drawn.append(answerCards(one, [say("before"), say("after")]), ...(one.same_prompt ? prompt(one.prompts[1], say("prompt")) : [...prompt(one.prompts[0], say("prompt before")), ...prompt(one.prompts[1], say("prompt after"))]));
  drawn.addEventListener("toggle", fill, { once: true });
  return drawn;
}
