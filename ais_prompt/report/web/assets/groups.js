// Datasets in their groups: which lines the tabs show, and which groups are folded.

const MOST_LINES = 16;  // lines of a table that are shown without folding its groups
const folded = new Set();  // names of groups
let parts = [];  // [{ name, members }] in the order of the summary; without members, a dataset of no group
let averages = [];  // groups of groups: no lines of their own to fold

/** Read the groups of the run. A dataset belongs to the first group that has it. */
function readGroups() {
  const isFirst = !parts.length;
  const known = new Map(data.groups.map(({ name, members }) => [name, members]));
  const alone = new Set(data.scores.filter((line) => !known.has(line.dataset) && !isAverage(line)).map(({ dataset }) => dataset));
  const owner = new Map();
  for (const [name, members] of known) for (const member of members) if (alone.has(member) && !owner.has(member)) owner.set(member, name);
  const found = new Map();
  for (const dataset of alone) {
    const group = owner.get(dataset);
    if (group === undefined) found.set(`${dataset}\n`, { name: dataset, members: null });
    else if (found.has(group)) found.get(group).members.push(dataset);
    else found.set(group, { name: group, members: [dataset] });
  }
  parts = [...found.values()];
  averages = [...new Set(data.scores.map(({ dataset }) => dataset))].filter((name) => !alone.has(name) && !found.has(name));
  if (isFirst && alone.size > MOST_LINES) foldAll(true);
}

/** The names of the groups. */
function groupNames() {
  return new Set(data.groups.map(({ name }) => name));
}

/** Whether a line is the average of a group; of a run without any samples this is not known. */
function isAverage(line) {
  return data.tasks.length > 0 && !taskOf(line) && line.score != null;
}

function foldAll(isFolded) {
  folded.clear();
  if (isFolded) for (const { name, members } of parts) if (members) folded.add(name);
}

/** The models and datasets that have samples. */
function names(key) {
  return [...new Set(data.tasks.map((task) => task[key]))];
}

/** The models that pass the filters. */
function shownModels() {
  return [...new Set(data.scores.map(({ model }) => model))].filter((model) => !filters.model.size || filters.model.has(model));
}

/** The parts that pass the filters, with the members that do. */
function shownParts() {
  const states = [...filters.state];
  const passing = new Set(data.tasks.filter((task) => passesTask(task) && states.some((state) => task.states[state])).map(({ dataset }) => dataset));
  const passes = (dataset) => (!filters.dataset.size || filters.dataset.has(dataset)) && (!states.length || passing.has(dataset));
  return parts.map(({ name, members }) => ({ name, members: members?.filter(passes) ?? null })).filter(({ name, members }) => members?.length ?? passes(name));
}

/** The lines that are to be seen: a folded group is one, of all its members. */
function shownLines(found = shownParts()) {
  return found.flatMap(({ name, members }) => (members && !folded.has(name) ? members.map((member) => ({ name: member, members: [member] })) : [{ name, members: members ?? [name] }]));
}

const tasksByName = { of: null, found: new Map() };

function taskOf({ model, dataset }) {
  if (tasksByName.of !== data) Object.assign(tasksByName, { of: data, found: new Map(data.tasks.map((task) => [keyOf(task), task])) });
  return tasksByName.found.get(keyOf({ model, dataset }));
}

function keyOf({ model, dataset }) {
  return `${model}\n${dataset}`;
}
