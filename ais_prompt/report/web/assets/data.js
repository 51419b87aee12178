// What the page shows, read from the file itself: the overview at once, the table and the samples when they are needed.
// `aisprompt view` has the same functions over a server, see served.js.

const KEPT_CHUNKS = 64;
const MISSES = ["partial", "wrong", "unparsed", "truncated", "no_gold", "failed"];  // states with less than the full score
let data = JSON.parse(byId("data").textContent);

/** Unpack the value of an element. */
async function unpacked(id) {
  return JSON.parse(await unpackedText(id));
}

async function unpackedText(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/** Join a text from the numbers of its lines. */
function textOf(chunk, numbers) {
  return numbers.map((number) => chunk.lines[number]).join("\n");
}

/** Name of a row in the address. */
function nameOf(row) {
  return `${row.task.model}/${row.task.dataset}/${row.id}`;
}

/** The samples of a self-contained file. */
class FileSource {
  async open() {
    this.chunks = new Map();  // id → promise of an unpacked chunk, least recently used first
    this.rows = await this.unpackedRows();
    this.size = this.rows.length;
    return this;
  }

  /** Unpack all rows of the table, in order of tasks and data. */
  async unpackedRows() {
    const rows = [];
    for (const [number, task] of data.tasks.entries()) {
      if (!byId(`task-${number}-table`)) continue;
      const { chunks: sizes, ...columns } = await unpacked(`task-${number}-table`);
      const places = sizes.flatMap((size, chunk) => Array.from({ length: size }, (_, place) => [`task-${number}-chunk-${chunk}`, place]));
      for (const [position, [id, place]] of places.entries()) {
        const row = { task, chunk: id, place };
        for (const [name, column] of Object.entries(columns)) row[name] = column[position];
        row.length = row[task.unit];
        rows.push(row);
      }
    }
    return rows;
  }

  /** Return the chunk with this id: `lines` and `samples`. */
  chunkOf(id) {
    const chunk = this.chunks.get(id) ?? unpacked(id);
    this.chunks.delete(id);
    this.chunks.set(id, chunk);
    if (this.chunks.size > KEPT_CHUNKS) this.chunks.delete(this.chunks.keys().next().value);
    return chunk;
  }

  /**
   * Find the samples that pass the filters, sorted; call `show({ selection, states, share })` as the search advances.
   * `states` counts the samples in each state that pass all other filters.
   */
  async find(filters, sorting, show, signal) {
    const candidates = this.rows.filter((row) => passes(row, filters));
    const showThese = (rows, share) => {
      const states = {};
      for (const row of rows) states[row.state] = (states[row.state] ?? 0) + 1;
      const chosen = filters.state.size ? rows.filter((row) => filters.state.has(row.state)) : rows;
      show({ selection: new LocalSelection(sorted(chosen, sorting)), states, share });
    };
    if (!filters.query) return showThese(candidates, 1);
    return search(candidates, filters.query, (id) => this.chunkOf(id), (matches, share) => showThese(candidates.filter((row) => matches.has(row)), share), signal);
  }

  /** Return the row with this name; undefined if there is none. */
  async named(name) {
    return this.rows.find((row) => nameOf(row) === name);
  }

  /** Return a sample with its chunk, and the sample that its prompt is compared with. */
  async sample(row) {
    const chunk = await this.chunkOf(row.chunk);
    const neighbour = chunk.samples[row.place ? row.place - 1 : 1];
    return { chunk, sample: chunk.samples[row.place], neighbour, neighbourName: say(row.place ? "the previous sample" : "the next sample") };
  }

  /** Return the rows of the same sample under other models. */
  async others(row) {
    this.ofSample ??= Map.groupBy(this.rows, sampleOf);
    return this.ofSample.get(sampleOf(row)).filter((other) => other !== row);
  }
}

function sampleOf(row) {
  return `${row.task.dataset}\n${row.id}`;
}

function passes(row, { model, dataset, columns }) {
  return (!model.size || model.has(row.task.model)) && (!dataset.size || dataset.has(row.task.dataset)) && Object.entries(columns).every(([name, value]) => row.columns[name] === value);
}

/** Rows that are all in memory. A selection of the server has the same functions, see served.js. */
class LocalSelection {
  constructor(rows) {
    this.rows = rows;
    this.length = rows.length;
  }

  /** The row at a position; undefined if it is not loaded yet. */
  at(position) {
    return this.rows[position];
  }

  /** Load the rows between two positions; a promise if this takes time. */
  load() {
    return null;
  }

  async position(row) {
    return this.rows.indexOf(row);
  }
}
