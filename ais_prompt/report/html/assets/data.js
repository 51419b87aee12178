// Read the data of the page: the overview at once, the table and the samples when they are needed.

const KEPT_CHUNKS = 64;
const data = JSON.parse(byId("data").textContent);
const chunks = new Map();  // id → promise of an unpacked chunk, least recently used first

/** Unpack the value of an element. */
async function unpacked(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** Unpack all rows of the table, in order of tasks and data. */
async function unpackedRows() {
  const rows = [];
  for (const [number, task] of data.tasks.entries()) {
    let chunk = 0;
    for (let part = 0; byId(`task-${number}-table-${part}`); part += 1) {
      const { chunks: sizes, ...columns } = await unpacked(`task-${number}-table-${part}`);
      const places = sizes.flatMap((size, further) => Array.from({ length: size }, (_, place) => [`task-${number}-chunk-${chunk + further}`, place]));
      chunk += sizes.length;
      for (const [position, [id, place]] of places.entries()) {
        const row = { task, chunk: id, place };
        for (const [name, column] of Object.entries(columns)) row[name] = column[position];
        row.length = row[task.unit];
        rows.push(row);
      }
    }
  }
  return rows;
}

/** Return the chunk with this id: `lines` and `samples`. */
function chunkOf(id) {
  const chunk = chunks.get(id) ?? unpacked(id);
  chunks.delete(id);
  chunks.set(id, chunk);
  if (chunks.size > KEPT_CHUNKS) chunks.delete(chunks.keys().next().value);
  return chunk;
}

/** Join a text from the numbers of its lines. */
function textOf(chunk, numbers) {
  return numbers.map((number) => chunk.lines[number]).join("\n");
}
