// Scores by column of the data, length of the answer and number of shots. Computed in Python.

const MOST_OPEN = 4;  // datasets whose scores by column are unfolded

/** A fold for each dataset, with a table for each grouping; a click on a group of a column shows its samples. */
function breakdownParts(choose) {
  const byDataset = Map.groupBy(data.tasks.filter((task) => task.breakdowns.length && passesTask(task)), ({ dataset }) => dataset);
  if (!byDataset.size) return [];
  const fold = (dataset) => lazyFold(plain(dataset), byDataset.size <= MOST_OPEN, () => breakdownTables(dataset, byDataset.get(dataset), choose));
  const folds = shownParts().map(({ name, members }) => {
    const own = (members ?? [name]).filter((dataset) => byDataset.has(dataset));
    if (!own.length) return null;
    return members ? lazyFold([plain(name), " ", el("span", { class: "soft" }, count(own.length))], byDataset.size <= MOST_OPEN, () => el("div", { class: "folds" }, own.map(fold))) : fold(name);
  });
  return [el("h2", {}, say("Score by column, shots and length")), el("div", { class: "folds" }, folds)];
}

/** A fold whose content is drawn when it is opened. */
function lazyFold(title, isOpen, content) {
  const fold = el("details", {}, el("summary", {}, title));
  fold.addEventListener("toggle", () => fold.append(content()), { once: true });
  fold.open = isOpen;
  return fold;
}

function breakdownTables(dataset, tasks, choose) {
  const groupings = new Set(tasks.flatMap((task) => task.breakdowns.map(({ by }) => by)));
  return el("div", { class: "measures" }, [...groupings].map((by) => breakdownTable(dataset, by, tasks, choose)));
}

/** One grouping of a dataset, the models beside each other. */
function breakdownTable(dataset, by, all, choose) {
  const tasks = all.filter((task) => task.breakdowns.some((one) => one.by === by));
  const groupsOf = (task) => task.breakdowns.find((one) => one.by === by).groups;
  const groups = [...new Set(tasks.flatMap((task) => groupsOf(task).map(({ name }) => name)))];
  const rows = groups.map((name) => [plain(groupName(name)), tasks.map((task) => {
    const value = task.columns[by]?.find((one) => String(one) === name);
    return heatCell(groupsOf(task).find((group) => group.name === name), value === undefined ? null : () => choose({ model: task.model, dataset, columns: { [by]: value } }));
  })]);
  return heatTable(`${plain(dataset)}: ${plain(say(by))}`, plain(say(by)), "Group", tasks.map(({ model }) => plain(model)), rows);
}

/** A value of the column, or the ends of a bin as `ais_prompt.report.web.breakdown` writes them. */
function groupName(name) {
  const [, low, below, high] = name.match(/^(\S+) to (below )?(\S+)$/) ?? [];
  return high === undefined ? name : say(below ? "{low} to below {high}" : "{low} to {high}", { low, high });
}
