// Draw a prompt character for character, with the lines that another prompt shares folded.

const FOLDED_LINES = 4;  // fewer lines are shown

/** Draw a prompt; the lines or messages that it shares with the beginning of `other` are folded. */
function promptBlock(chunk, prompt, other, owner) {
  if (typeof prompt[0] === "number") return el("div", { class: "prompt" }, foldedText(chunk, prompt, typeof other?.[0] === "number" ? other : [], owner));
  const same = other ? sharedLength(prompt.map(JSON.stringify), other.map(JSON.stringify)) : 0;
  const folded = Math.min(same, prompt.length - 1);
  const messages = prompt.map((message, number) => messageBlock(chunk, message, number === folded ? partner(other, number) : null, owner));
  const early = folded > 1 ? [el("details", { class: "fold" }, el("summary", {}, say("{number}, same as in {owner}", { number: counted(folded, "message"), owner })), messages.slice(0, folded))] : messages.slice(0, folded);
  return el("div", { class: "prompt" }, early, messages.slice(folded));
}

function partner(other, number) {
  return typeof other?.[number] === "object" ? other[number].parts[0]?.text : null;
}

function messageBlock(chunk, message, other, owner) {
  const parts = message.parts.map((part, number) => (part.media ? mediaBlock(chunk, part) : foldedText(chunk, part.text, number ? [] : other ?? [], owner)));
  return el("div", { class: `message ${["system", "user", "assistant"].includes(message.role) ? message.role : ""}` }, el("span", { class: "role" }, plain(message.role)), parts);
}

/** Draw a text whose first lines are folded if another text begins with the same lines. */
function foldedText(chunk, numbers, other, owner) {
  const same = Math.min(sharedLength(numbers, other), numbers.length - 1);
  if (same < FOLDED_LINES) return eitherText(textOf(chunk, numbers), false);
  const fold = el("details", { class: "fold" }, el("summary", {}, say("{number}, same as in {owner}", { number: counted(same, "line"), owner })), eitherText(textOf(chunk, numbers.slice(0, same)), false));
  return el("div", {}, fold, eitherText(textOf(chunk, numbers.slice(same)), false));
}

function sharedLength(items, others) {
  const end = items.findIndex((item, number) => item !== others[number]);
  return end < 0 ? items.length : end;
}

/** Draw an image, sound or film whose content is in the report; of others, the description. */
function mediaBlock(chunk, part) {
  const description = el("p", { class: "media" }, plain(part.media));
  if (!part.url) return description;
  const src = textOf(chunk, part.url);
  const tags = { image: () => el("img", { src, alt: plain(part.media), loading: "lazy" }), audio: () => el("audio", { src, controls: true, "aria-label": plain(part.media) }), video: () => el("video", { src, controls: true, "aria-label": plain(part.media) }) };
  return el("figure", {}, tags[part.kind](), el("figcaption", {}, description));
}
