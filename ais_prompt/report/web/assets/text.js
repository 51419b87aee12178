// Format texts and numbers.

// Controls (not tab and newline), marks of direction and width, lone surrogates.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const LONG = 60000;  // characters shown at once

/** Return a text as nodes, with invisible characters replaced by their names. */
function visible(text) {
  const nodes = [];
  let done = 0;
  for (const found of text.matchAll(HIDDEN)) {
    if (found.index > done) nodes.push(text.slice(done, found.index));
    const code = found[0].charCodeAt(0).toString(16).padStart(4, "0");
    nodes.push(el("span", { class: "hidden-character", title: say("invisible character") }, `U+${code.toUpperCase()}`));
    done = found.index + found[0].length;
  }
  nodes.push(text.slice(done));
  return nodes;
}

/** Return a text for one line of a table. */
function plain(text) {
  return text.replace(HIDDEN, "\ufffd");
}

/** Return the part of a text between two places, with the range `mark` marked. */
function part(text, from, to, mark) {
  const [start, end] = mark.map((place) => Math.min(Math.max(place, from), to));
  const marked = end > start ? [el("mark", { class: "read", title: say("what was extracted") }, ...visible(text.slice(start, end)))] : [];
  return [...visible(text.slice(from, start)), ...marked, ...visible(text.slice(end, to))];
}

/** Return start and end of a span of code points in a text; without a span, an empty range. */
function places(text, span) {
  if (!span) return [0, 0];
  const characters = Array.from(text);
  const start = characters.slice(0, span.start).join("").length;
  return [start, start + characters.slice(span.start, span.end).join("").length];
}

/**
 * Draw a whole text, with trailing white space made visible; a very long text opens in steps.
 * `span` is the part to mark.
 */
function wholeText(text, span) {
  const mark = places(text, span);
  const block = el("div", { class: "text", dir: "auto" });
  const end = text.match(/\s*$/)[0];
  const show = (from) => {
    const to = Math.min(from + LONG, text.length - end.length);
    block.append(...part(text, from, to, mark));
    if (to < text.length - end.length) {
      const more = el("button", { type: "button", class: "more" }, say("Show more ({number} characters left)", { number: count(text.length - to) }));
      more.addEventListener("click", () => { more.remove(); show(to); });
      block.append(more);
    } else if (end) {
      block.append(el("span", { class: "blank", title: say("trailing white space") }, end.replaceAll(" ", "·").replaceAll("\t", "→").replaceAll("\n", "↵\n").replace(/\n$/, "")));
    }
  };
  show(0);
  if (!text) block.append(el("span", { class: "soft" }, say("empty")));
  return block;
}

function count(number) {
  return number.toLocaleString("en-US");
}

function counted(number, noun) {
  return say(noun) === noun ? `${count(number)} ${noun}${number === 1 ? "" : "s"}` : `${count(number)} ${say(noun)}`;
}

/** Format with so many digits as Python does: 81.25, in the middle, goes to the even 81.2 here and in a terminal. */
function fixed(number, digits) {
  const places = 10 ** digits;
  const isMiddle = Number.isInteger(number * 2 ** (digits + 1)) && Math.abs((number * places) % 1) === 0.5;
  return (isMiddle ? (2 * Math.round((number * places) / 2)) / places : number).toFixed(digits);
}

/** 0.9351 → 93.5 %. */
function percent(fraction) {
  return `${fixed(100 * fraction, 1)} %`;
}

/** Format a score: a fraction as percent, anything else with two digits. */
function scored(number, fraction) {
  return fraction ? percent(number) : fixed(number, 2);
}

/** 90.4–96.9; one number if both ends look the same; empty if they are not known. */
function span(low, high, fraction) {
  if (low == null || high == null) return "";
  const ends = [low, high].map((end) => (fraction ? fixed(100 * end, 1) : fixed(end, 2)));
  return [...new Set(ends)].join(low < 0 ? " to " : "–");
}

/** Round to significant digits, three by default: 0.0123, 1.23, 123, 12,345. */
function figure(number, digits = 3) {
  return Math.abs(number) >= 10 ** digits ? count(Math.round(number)) : String(Number(number.toPrecision(digits)));
}

function seconds(number) {
  return number >= 120 ? `${figure(number / 60)} min` : number >= 1 || number === 0 ? `${figure(number)} s` : `${figure(number * 1000)} ms`;
}

/** Format the time between two moments: 8 s, 2 min 5 s, 1 h 2 min. */
function duration(start, end) {
  const total = Math.max(0, Math.round((new Date(end) - new Date(start)) / 1000));
  const [hours, minutes, rest] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  return hours ? `${hours} h ${minutes} min` : minutes ? `${minutes} min ${rest} s` : `${rest} s`;
}

/** 2026-11-21T10:52:00+00:00 → 2026-11-21 10:52. */
function moment(time) {
  return time.slice(0, 16).replace("T", " ");
}
