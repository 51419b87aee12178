// Tabs of the report that extensions bring, and what these say of a run elsewhere on the pages.

const FURTHER = {};  // name → tab

/**
 * Add a tab: its `title`; `has()`, whether there is something to show; `draw()`, its parts; `isInstead()`, whether the run has this in place of samples;
 * `facts()`, for the line below the title of such a run; `progress(state)`, what it does just now, as `progressOf` says it;
 * `isBehindSamples`, whether it comes after the samples; `listed(run)`, its part of a line in the list of runs, null for none; and `words(run)`, what the search finds of that.
 */
function addTab(name, tab) {
  FURTHER[name] = tab;
}

/** Name → a value of each tab, of those that are chosen. */
function ofTabs(key, isChosen = () => true) {
  return Object.fromEntries(Object.entries(FURTHER).filter(([, tab]) => isChosen(tab)).map(([name, tab]) => [name, tab[key]]));
}
