// The tab of variants. Its texts are escaped where it is made, and no script of such HTML runs.

addTab("variants", {
  title: "Variants",
  isBehindSamples: true,
  has: () => Boolean(data.variants),
  draw: () => [...new DOMParser().parseFromString(data.variants, "text/html").body.children],
  isInstead: () => false,
  facts: () => [],
  progress: () => null,
  listed: () => null,
  words: () => [],
});
