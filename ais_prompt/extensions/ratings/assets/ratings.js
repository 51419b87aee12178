// The tab of ratings: models by rank, the pairs that are not separated, and the matrix of wins.

addTab("ratings", {
  title: "Ratings",
  has: () => data.ratings?.length ?? 0,
  draw: () => data.ratings.map(ratingsPart),
  isInstead: () => false,
  facts: () => [],
  progress: () => null,
  listed: () => null,
  words: () => [],
});

function ratingsPart({ dataset, verdicts, questions, models, matrix, apart, effects, notes }) {
  const facts = say("{verdicts} verdicts about {questions} questions", { verdicts: count(verdicts), questions: count(questions) });
  const lines = [
    ...effects.map(({ name, value, interval }) => `${say(name)}: ${signed(value)}${interval ? ` (${interval.map(signed).join(" – ")})` : ""} ${say("log odds")}`),
    ...apart.map(({ pair, more }) => say(more == null ? "not separated: {pair}" : "not separated: {pair}; about {more} more verdicts on the two would separate them", { pair: pair.map(plain).join(", "), more: more == null ? "" : count(more) })),
    ...notes.map(plain),
  ];
  return el("section", { class: "ratings" }, el("h2", { dir: "auto" }, plain(dataset)), el("p", { class: "soft" }, facts), ratingTable(models), lines.length ? el("ul", {}, lines.map((line) => el("li", {}, line))) : null, el("p", { class: "soft" }, say("Points of a row against a column, % · verdicts")), winMatrix(matrix));
}

function signed(value) {
  return `${value <= -0.005 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
}

function ratingTable(models) {
  const head = [say("model"), say("rank"), say("rating"), say("95 % interval"), say("win rate"), say("verdicts")];
  const rows = models.map(({ model, rank, elo, low, high, win_rate, verdicts }) => el("tr", {}, el("th", { scope: "row", class: "model", dir: "auto" }, plain(model)), [rank, elo.toFixed(0), low == null ? "" : `${low.toFixed(0)} – ${high.toFixed(0)}`, percent(win_rate), count(verdicts)].map((text) => el("td", { class: "number" }, text))));
  return ratingGrid(head, rows);
}

function winMatrix({ names, cells }) {
  const rows = names.map((name, row) => el("tr", {}, el("th", { scope: "row", class: "model", dir: "auto" }, plain(name)), cells[row].map((text) => el("td", { class: "number" }, text))));
  return ratingGrid(["", ...names.map(plain)], rows);
}

function ratingGrid(head, rows) {
  const cells = head.map((text, place) => el(text ? "th" : "td", { scope: text ? "col" : null, class: place ? "number" : "" }, text));
  return el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "speeds" }, el("thead", {}, el("tr", {}, cells)), el("tbody", {}, rows)));
}
