// Save the samples that pass the filters, in their order, as CSV or JSON.

const EXPORTED = ["model", "dataset", "id", "index", "state", "question", "extracted", "gold", "value", "length", "seconds", "reason"];
const EXPORT_STEP = 500;  // rows in one request to a server

async function exportRows(kind) {
  const { selection } = table;
  const rows = [];
  for (let from = 0; from < selection.length; from += EXPORT_STEP) {
    const to = Math.min(from + EXPORT_STEP, selection.length);
    await selection.load(from, to);
    for (let position = from; position < to; position += 1) rows.push(exported(selection.at(position)));
  }
  const text = kind === "JSON" ? JSON.stringify(rows, null, 1) : csvOf(rows);
  saveFile(`${data.name}-samples.${kind.toLowerCase()}`, new Blob([text], { type: kind === "JSON" ? "application/json" : "text/csv" }));
}

function exported(row) {
  const values = { ...row, model: row.task.model, dataset: row.task.dataset };
  return { ...Object.fromEntries(EXPORTED.map((name) => [name, values[name] ?? null])), ...Object.fromEntries(Object.entries(row.columns).map(([name, value]) => [`column ${name}`, value])) };
}

const FORMULA = /^(\s*[=+\-@＝＋－＠]|[\t\r\n])/;
const NUMBER = /^[+-]?(\d[\d,_]*\.?\d*|\.\d+)([eE][+-]?\d+)?\s?%?$/;

/** Rows as CSV (RFC 4180). A text that a spreadsheet would take for a formula begins with an apostrophe; see csv_lines.py. */
function csvOf(rows) {
  const names = [...new Set(rows.flatMap(Object.keys))];
  const field = (value) => {
    const text = value == null ? "" : String(value);
    const safe = typeof value === "string" && FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((line) => line.map(field).join(",")).join("\r\n") + "\r\n";
}
