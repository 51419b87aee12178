// The language of the labels. Texts of data are never translated.

const LABELS = JSON.parse(byId("labels").textContent);  // from ais_prompt/report/language.py

/** Return a label in the reader's language; `{name}` in it is replaced by `values.name`. */
function say(label, values = {}) {
  const found = LABELS[label] ?? label;
  return found.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** Translate what the frame of the page says: texts, placeholders and names for screen readers. */
function sayFrame() {
  for (const node of document.querySelectorAll("[data-say]")) node.textContent = say(node.textContent.trim());
  for (const name of ["placeholder", "aria-label", "title"]) {
    for (const node of document.querySelectorAll(`body [${name}]`)) node.setAttribute(name, say(node.getAttribute(name)));
  }
}
