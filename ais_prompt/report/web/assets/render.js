// Draw Markdown, LaTeX (as MathML) and code, from tokens and by allowed elements only: no text becomes markup, links lead
// nowhere, and nothing is loaded. The libraries are packed in the page and run when the first sample is opened.

const MATHML = "http://www.w3.org/1998/Math/MathML";
const LONGEST_RENDERED = 60000;  // characters; longer texts are shown exactly
const LONGEST_FORMULA = 5000;
const FORMULA_ELEMENTS = new Set("math mrow mi mo mn ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts mprescripts mtable mtr mtd mpadded mphantom menclose mstyle".split(" "));
const FORMULA_ATTRIBUTES = new Set("accent accentunder columnalign columnspan depth display displaystyle fence form height largeop linethickness lspace mathvariant maxsize minsize movablelimits rowspan rspace scriptlevel separator stretchy symmetric voffset width".split(" "));
const MARKUP = /\$|\\[[(]|\\[a-zA-Z]+\{|```|`[^`]+`|\*\*|^#{1,6} |^\s*([-*+]|\d+[.)]) |^\||^>/m;  // what is worth rendering

let libraries;

/** Run the packed libraries once. */
function loadLibraries() {
  libraries ??= Promise.all(["marked", "temml"].map(async (name) => {
    document.head.append(el("script", {}, await unpackedText(`library-${name}`)));
  })).then(() => parser().use({ extensions: [inlineMath, blockMath] }));
  return libraries;
}

let markdown;
function parser() {
  markdown ??= new marked.Marked();
  return markdown;
}

const blockMath = mathTokens("blockMath", "block", /^(?:\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\]|(\\begin\{([a-z]+\*?)\}[\s\S]+?\\end\{\4\}))(?:\n|$)/, /\$\$|\\\[|\\begin\{/);
const inlineMath = mathTokens("inlineMath", "inline", /^(?:\$\$([^$]+?)\$\$|\\\[([\s\S]+?)\\\]|\\\(([\s\S]+?)\\\)|\$(?!\s)((?:\\[\s\S]|[^$\\\n])+?)(?<!\s)\$(?!\d)|(\\boxed\{[^{}\n]*(?:\{[^{}\n]*\}[^{}\n]*)*\}))/, /\$|\\[[(]|\\boxed\{/);

/** An extension of marked: formulas are tokens of their own, so that Markdown does not change what is in them. */
function mathTokens(name, level, pattern, begins) {
  return {
    name,
    level,
    start: (text) => text.search(begins),
    tokenizer(text) {
      const found = pattern.exec(text);
      if (!found) return undefined;
      const formula = found.slice(1).find((part) => part != null);
      return { type: name, raw: found[0], formula, display: level === "block" || /^(\$\$|\\\[)/.test(found[0]) };
    },
  };
}

/** Draw a text of Markdown and LaTeX; null if it cannot be, and the exact text has to be shown. */
function rendered(text) {
  if (text.length > LONGEST_RENDERED || !MARKUP.test(text)) return null;
  try {
    return el("div", { class: "rendered", dir: "auto" }, blocks(parser().lexer(text)));
  } catch {  // nested deeper than the stack
    return null;
  }
}

const BLOCKS = {
  space: () => null,
  heading: (token) => el("p", { class: "heading" }, inlines(token.tokens)),
  paragraph: (token) => el("p", {}, inlines(token.tokens)),
  text: (token) => (token.tokens ? el("div", {}, inlines(token.tokens)) : visible(token.text)),
  code: (token) => el("pre", { tabindex: "0" }, el("code", {}, ...visible(token.text))),
  blockquote: (token) => el("blockquote", {}, blocks(token.tokens)),
  list: (token) => el(token.ordered ? "ol" : "ul", { start: token.ordered && token.start !== 1 ? Number(token.start) : null }, token.items.map((item) => el("li", {}, blocks(item.tokens)))),
  checkbox: (token) => (token.checked ? "☑ " : "☐ "),
  table: (token) => el("div", { class: "scroll", tabindex: "0" }, el("table", {}, el("thead", {}, tableRow("th", token.header)), el("tbody", {}, token.rows.map((row) => tableRow("td", row))))),
  hr: () => el("hr"),
  blockMath: (token) => formula(token),
};

const INLINES = {
  text: (token) => (token.tokens ? inlines(token.tokens) : visible(token.text)),
  escape: (token) => visible(token.text),
  strong: (token) => el("strong", {}, inlines(token.tokens)),
  em: (token) => el("em", {}, inlines(token.tokens)),
  del: (token) => el("del", {}, inlines(token.tokens)),
  codespan: (token) => el("code", {}, ...visible(token.text)),
  br: () => el("br"),
  checkbox: BLOCKS.checkbox,
  link: (token) => (token.raw === token.href ? visible(token.raw) : [el("span", { class: "inert" }, inlines(token.tokens)), el("span", { class: "soft" }, " (", ...visible(token.href), ")")]),
  image: (token) => el("span", { class: "soft" }, "[", ...visible(token.text || say("image")), ": ", ...visible(token.href), "]"),
  inlineMath: (token) => formula(token),
};

/** Draw tokens of blocks; a token of another type, such as HTML, is shown as the text that it is. */
function blocks(tokens) {
  return tokens.map((token) => (BLOCKS[token.type] ?? INLINES[token.type] ?? exactToken)(token));
}

function inlines(tokens) {
  return tokens.map((token) => (INLINES[token.type] ?? exactToken)(token));
}

function exactToken(token) {
  return visible(token.raw);
}

function tableRow(tag, cells) {
  return el("tr", {}, cells.map((one) => el(tag, {}, inlines(one.tokens))));
}

/** Draw a formula as MathML; as its LaTeX if it cannot be read. */
function formula(token) {
  if (token.formula.length > LONGEST_FORMULA) return el("code", {}, ...visible(token.raw));
  try {
    return mathNode(temml.__renderToMathMLTree(token.formula, { displayMode: token.display, throwOnError: true, maxExpand: 200 }));
  } catch {
    return el("code", { class: "unread", title: say("this LaTeX cannot be drawn") }, ...visible(token.raw));
  }
}

/** Copy a node of temml's tree, allowed elements and attributes only. */
function mathNode(node) {
  if (node.text != null && !node.children) return visible(node.text);
  const children = (node.children ?? []).map(mathNode).flat(Infinity);
  if (!FORMULA_ELEMENTS.has(node.type)) return children;
  const copy = document.createElementNS(MATHML, node.type);
  for (const [name, value] of Object.entries(node.attributes ?? {})) if (FORMULA_ATTRIBUTES.has(name)) copy.setAttribute(name, value);
  const classes = [...(node.classes ?? []).filter((name) => /^tml-(left|right|jot)$/.test(name)), node.style?.border ? "boxed" : ""].filter(Boolean);
  if (classes.length) copy.setAttribute("class", classes.join(" "));
  copy.append(...children);
  return copy;
}

/** Draw a text exactly or rendered, with a button to change between the two. `span` is the part to mark in the exact text. */
function eitherText(text, asRendered, span) {
  const drawn = rendered(text);
  if (!drawn) return wholeText(text, span);
  const exact = wholeText(text, span);
  const button = el("button", { type: "button", class: "either-button" });
  const block = el("div", { class: "either" }, button, drawn, exact);
  const show = (isRendered) => {
    drawn.hidden = !isRendered;
    exact.hidden = isRendered;
    button.textContent = say(isRendered ? "exact text" : "rendered");
  };
  button.onclick = () => show(drawn.hidden);
  block.show = show;
  show(asRendered);
  return block;
}
