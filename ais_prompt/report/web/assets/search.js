// Search the cells of the table first, then the whole texts of every sample.

/** Find the rows that contain a text, ignoring case; call `found(matches, share)` as the search advances. */
async function search(rows, query, chunkOf, found, signal) {
  const wanted = query.toLowerCase();
  const matches = new Set(rows.filter((row) => [row.id, row.question, row.extracted, row.gold].some((text) => text?.toLowerCase().includes(wanted))));
  const byChunk = Map.groupBy(rows, (row) => row.chunk);
  let done = 0;
  for (const [id, ofChunk] of byChunk) {
    const texts = searchable(await chunkOf(id), wanted);
    if (signal.aborted) return;
    for (const row of ofChunk) if (texts(row.place)) matches.add(row);
    done += 1;
    if (done % 8 === 0 || done === byChunk.size) found(matches, done / byChunk.size);
  }
  if (!byChunk.size) found(matches, 1);
}

/** Mark what is searched in the table and in the open sample; browsers without highlights mark nothing. */
function markHits() {
  if (!CSS.highlights) return;
  const wanted = filters.query.toLowerCase();
  const ranges = [];
  for (const root of wanted ? [byId("rows"), byId("sample"), byId("panel-models")] : []) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const text = node.data.toLowerCase();
      if (text.length !== node.data.length) continue;  // places would be others
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + wanted.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

/** Return a function that tells whether the sample at a position in the chunk has a line with the text. */
function searchable(chunk, wanted) {
  const hits = new Set(chunk.lines.flatMap((line, number) => (line.toLowerCase().includes(wanted) ? [number] : [])));
  if (!hits.size) return () => false;
  const common = sharedLines(chunk);
  return (place) => linesOf(chunk.samples[place]).some(({ number, asked }) => hits.has(number) && !(asked && common.has(number)));
}

/** Return the lines that most prompts of a chunk share: instructions and examples, which are not searched. */
function sharedLines(chunk) {
  if (chunk.samples.length < 10) return new Set();
  const uses = new Map();
  for (const sample of chunk.samples) {
    const asked = new Set(linesOf(sample).filter((line) => line.asked).map((line) => line.number));
    for (const number of asked) uses.set(number, (uses.get(number) ?? 0) + 1);
  }
  return new Set([...uses].filter(([, number]) => number > chunk.samples.length / 2).map(([number]) => number));
}

/** Return the numbers of all lines of a sample, and whether each belongs to a prompt. */
function linesOf(sample) {
  const said = [sample.prediction, ...sample.verdicts.flatMap(({ extracted, gold }) => [extracted, gold])].flatMap((numbers) => numbers ?? []);
  const answers = sample.requests.flatMap((request) => request.answers.flatMap((answer) => [...(answer.text ?? []), ...(answer.thinking ?? [])]));
  const asked = [...sample.requests, ...sample.labels].flatMap(({ prompt }) => promptLines(prompt));
  return [...[...said, ...answers].map((number) => ({ number, asked: false })), ...asked.map((number) => ({ number, asked: true }))];
}

function promptLines(prompt) {
  if (!prompt) return [];
  return prompt.flatMap((item) => (typeof item === "number" ? item : item.parts.flatMap((part) => part.text ?? [])));
}
