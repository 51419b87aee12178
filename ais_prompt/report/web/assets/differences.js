// Word-level differences of two texts (Myers 1986, "An O(ND) Difference Algorithm and Its Variations").

const WORD = /\s+|[\u3040-\u30ff\u3400-\u9fff]|[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]/gu;  // space, Chinese character, word, sign
const MOST_CHANGES = 1500;  // words; texts with more are shown as wholly different

/** Return both texts in parts `[text, isChanged]`. */
function changedWords(before, after) {
  const [old, now] = [before.match(WORD) ?? [], after.match(WORD) ?? []];
  const pairs = commonWords(old, now);
  if (!pairs) return [[[before, true]], [[after, true]]];
  const kept = [new Set(pairs.map(([place]) => place)), new Set(pairs.map(([, place]) => place))];
  return [partsOf(old, kept[0]), partsOf(now, kept[1])];
}

function partsOf(words, kept) {
  const parts = [];
  words.forEach((word, place) => {
    const changed = !kept.has(place);
    if (parts.at(-1)?.[1] === changed) parts.at(-1)[0] += word;
    else parts.push([word, changed]);
  });
  return parts;
}

/** Return the places of the words that both lists have in common, in order; null if they differ in too many. */
function commonWords(old, now) {
  const steps = [];
  let reach = new Map([[1, 0]]);  // diagonal → how far it reaches in `old`
  for (let changes = 0; changes <= MOST_CHANGES; changes += 1) {
    steps.push(new Map(reach));
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let place = comesDown(reach, diagonal, changes) ? reach.get(diagonal + 1) : reach.get(diagonal - 1) + 1;
      while (place < old.length && place - diagonal < now.length && old[place] === now[place - diagonal]) place += 1;
      reach.set(diagonal, place);
      if (place >= old.length && place - diagonal >= now.length) return traced(steps, old.length, now.length);
    }
  }
  return null;
}

function comesDown(reach, diagonal, changes) {
  return diagonal === -changes || (diagonal !== changes && reach.get(diagonal - 1) < reach.get(diagonal + 1));
}

/** Walk back from the end, and collect the pairs of equal words. */
function traced(steps, x, y) {
  const pairs = [];
  for (let changes = steps.length - 1; changes >= 0; changes -= 1) {
    const diagonal = x - y;
    const before = comesDown(steps[changes], diagonal, changes) ? diagonal + 1 : diagonal - 1;
    const [fromX, fromY] = [steps[changes].get(before), steps[changes].get(before) - before];
    while (x > Math.max(fromX, 0) && y > Math.max(fromY, 0)) pairs.push([--x, --y]);
    [x, y] = [fromX, fromY];
  }
  return pairs.reverse();
}

/** Draw the parts of a text, the changed ones marked. */
function markedText(parts) {
  if (!parts.length) return el("div", { class: "text" }, el("span", { class: "soft" }, say("empty")));
  return el("div", { class: "text", dir: "auto" }, parts.map(([text, changed]) => (changed ? el("mark", { class: "changed" }, ...visible(text)) : visible(text))));
}
