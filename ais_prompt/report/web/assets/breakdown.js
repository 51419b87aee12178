// Scores by column of the data, length of the answer and number of shots, with 95 % intervals. Computed in Python.

/** A table for each grouping of each task; a click on a group of a column shows its samples. */
function breakdownParts(choose) {
  const found = byDataset(data.tasks).flatMap((task) => task.breakdowns.map((breakdown) => ({ task, ...breakdown })));
  if (!found.length) return [];
  const tables = [...Map.groupBy(found, ({ task, by }) => JSON.stringify([task.dataset, by])).values()];
  return [el("h2", {}, say("Score by")), el("div", { class: "measures" }, tables.map((lines) => breakdownTable(lines, choose)))];
}

/** One grouping of a dataset, the models beside each other. */
function breakdownTable(lines, choose) {
  const { dataset } = lines[0].task;
  const title = `${plain(dataset)}: ${plain(say(lines[0].by))}`;
  const range = scoreRange(lines.flatMap(({ groups }) => groups.map(({ score, low, high }) => ({ score, ci95_low: low, ci95_high: high }))));
  const groups = [...new Set(lines.flatMap((line) => line.groups.map(({ name }) => name)))];
  const head = el("tr", {}, header("", "Group"), header("", "Model"), header("number", "Score"), header("number", "95 %"), header("plotted", scoreAxis(range)), header("number n", "Samples"));
  const rows = groups.flatMap((name) => lines.filter((line) => line.groups.some((group) => group.name === name)).map((line, place) => groupRow(line, name, place, range, choose)));
  return el("div", { class: "scroll", tabindex: "0" }, el("table", { class: "measure breakdown", "aria-label": title }, el("caption", {}, title), el("thead", {}, head), el("tbody", {}, rows)));
}

/** A value of the column, or the ends of a bin as `ais_prompt.report.web.breakdown` writes them. */
function groupName(name) {
  const [, low, below, high] = name.match(/^(\S+) to (below )?(\S+)$/) ?? [];
  return high === undefined ? name : say(below ? "{low} to below {high}" : "{low} to {high}", { low, high });
}

function groupRow({ task, by, groups }, name, place, range, choose) {
  const group = groups.find((one) => one.name === name);
  const value = task.columns[by]?.find((one) => String(one) === name);
  const { model, dataset } = task;
  const score = value === undefined ? percent(group.score) : el("button", { type: "button", class: "link", onclick: () => choose({ model, dataset, columns: { [by]: value } }) }, percent(group.score));
  const line = { score: group.score, ci95_low: group.low, ci95_high: group.high };
  return el("tr", {}, el("th", { scope: "row", class: `dataset${place ? " again" : ""}`, dir: "auto" }, plain(groupName(name))), el("td", { class: "model soft" }, plain(model)), cell("number score", score), cell("number interval-ends soft", span(group.low, group.high, true)), cell("plotted", scorePlot(line, range)), cell("number soft n", count(group.n)));
}
