// The tab of costs: what the answers of each task cost, and a right answer; below it the sums of models and datasets.

addTab("costs", {
  title: "Costs",
  has: () => data.costs?.length ?? 0,
  isInstead: () => false,
  draw: costsParts,
  facts: () => [],
  progress: () => ({ done: 0, of: null, words: "" }),
  listed: () => null,
  words: () => [],
});

function costsParts() {
  const shown = data.costs.filter(({ model, dataset }) => (!filters.model.size || filters.model.has(model)) && (!filters.dataset.size || filters.dataset.has(dataset)));
  const sources = [...new Set(shown.map(({ source }) => source).filter(Boolean))];
  const notes = [el("p", { class: "soft" }, say("Judges are not counted here. A right answer: the cost of all answers, divided by the right ones.")), sources.length ? el("p", { class: "soft" }, `${say("Prices")}: ${plain(sources.join(", "))}`) : null];
  const parts = [costTable(say("Task"), shown.map((cost) => ({ ...cost, name: `${cost.model}/${cost.dataset}` })))];
  for (const [key, title] of [["model", say("Model")], ["dataset", say("Dataset")]]) {
    const groups = Map.groupBy(shown, (cost) => cost[key]);
    if (groups.size > 1 || shown.length > groups.size) parts.push(costTable(title, [...groups].map(([name, costs]) => costSum(name, costs))));
  }
  return [...parts, ...notes];
}

/** One line for several tasks. What is not known of one is not known of all. */
function costSum(name, costs) {
  const all = (key) => (costs.some((cost) => cost[key] == null) ? null : costs.reduce((sum, cost) => sum + cost[key], 0));
  const [cost, right, uncounted] = [all("cost"), all("right"), all("uncounted")];
  return { name, answers: all("answers"), in_batches: all("in_batches"), uncounted, cost, right, currency: costs[0].currency, of_right: cost != null && right && !uncounted ? cost / right : null };
}

function costTable(title, costs) {
  const head = [title, say("Answers"), say("In batches"), say("Cost"), say("Right"), say("Cost of a right answer")];
  const amount = (value, currency) => (value == null ? say("not known") : `${value ? value.toPrecision(3) : 0} ${plain(currency)}`);
  const rows = costs.map((cost) => el("tr", {}, el("th", { scope: "row" }, plain(cost.name)), [count(cost.answers), count(cost.in_batches), `${amount(cost.cost, cost.currency)}${cost.uncounted && cost.cost != null ? ` + ${counted(cost.uncounted, "answer")} ${say("not counted")}` : ""}`, cost.right == null ? "–" : figure(cost.right), amount(cost.of_right, cost.currency)].map((text) => el("td", { class: "number" }, text))));
  return el("table", { class: "main-scores" }, el("thead", {}, el("tr", {}, head.map((text, place) => el("th", { scope: "col", class: place ? "number" : "" }, text)))), el("tbody", {}, rows));
}
