"""What a program that uses this program must know, made from the reference: ``SKILL.md`` and ``llms.txt``.

A skill is Markdown below a name and a description, which an agent reads when a task fits them (agentskills.io).
``llms.txt`` is the list of contents that language models look for at the top of a site (llmstxt.org).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ais_prompt.types import Entry

SKILL: Final = "SKILL.md"
LLMS: Final = "llms.txt"
ABOUT: Final = (
    "Evaluates language models from Python configs: predictions, scores with 95 % intervals, reports, comparisons, "
    "gates for CI, and the performance of servers. Configs of OpenCompass and AISBench work as they are."
)
_SKILL: Final = """\
---
name: aisprompt
description: >-
  {about}
  Use it to evaluate or compare models, to see the prompts of a benchmark, to measure a server, or to gate a release.
---

# aisprompt

## Steps

1. Find what is there: `aisprompt list WORD --json`, `aisprompt describe NAME --json`. NAME is a config, part, key,
   option, file or error: `aisprompt describe reader_cfg.test_range`.
2. Write `eval.py` with `models = [...]` and `datasets = [...]`. Without a config:
   `aisprompt run --url URL --data questions.csv`.
3. `aisprompt check eval.py --json` finds all faults at once and asks nothing. Each has `what`, `where` and `fix`.
4. `aisprompt view-prompt eval.py --json` shows the prompts. Look at one before you pay for many.
5. `aisprompt run eval.py --dry-run --json` shows requests, tokens and cost; with `--sample 20` it is a pilot.
6. `aisprompt run eval.py --json` asks. After an interruption the same command with `-r` asks only the rest.
7. Read `scores` of its document. Compare with another run: `aisprompt compare RUN OTHER --json`.
   Gate a release: `aisprompt run eval.py --gate 'accuracy >= 70% @95%'`.

## Rules

- With `--json` standard output is one document, also after an error: `exit_code`, `errors`. Messages are on standard
  error. `lock`, `diff` and `view-prompt` print their result alone as JSON, and errors as text.
- Exit codes: 0; 1 a gate failed, samples failed, or things differ; 2 the config or the data are wrong; 3 a model,
  server or file could not be used; 4 a budget is used up; 70 a fault of the program; 130 stopped.
- Answers are scored, unparsed, truncated or failed. Report a score with `n`, its interval, and how many are not scored.
- A difference is shown if its interval leaves out 0. The first questions of a file (`--num-prompts`) are no sample.
- A config is Python and is executed: read it before. Run folders and logs of others are only read.
- Keys of servers are named by variable (`api_key='MY_VARIABLE'`), never written into a config.
- A run folder has everything: `run.json` (with the first request body of each task), `predictions/`, `results/`,
  `summary/`. `aisprompt describe run.json --schema` prints the schema of a file.

## Commands

{commands}
"""


def skill(commands: Iterable[Entry]) -> str:
    """Return the text of ``SKILL.md``.

    Args:
        commands: the entries of all commands.
    """
    lines = (f"- `{one.usage}`: {one.summary}{_document(one)}" for one in commands)
    return _SKILL.format(about=ABOUT, commands="\n".join(lines))


def llms_txt(commands: Iterable[Entry], pages: Sequence[tuple[str, str]] = ()) -> str:
    """Return the text of ``llms.txt``.

    Args:
        commands: the entries of all commands.
        pages: address and title of each page, where there is a site.
    """
    parts = [f"# ais_prompt\n\n> {ABOUT}"]
    if pages:
        parts.append("## Pages\n\n" + "\n".join(f"- [{title}]({address})" for address, title in pages))
    how = f"`aisprompt describe NAME` has the options of each, `aisprompt describe {SKILL}` how to use them."
    parts.append(
        "\n".join(["## Commands\n", how, "", *(f"- `aisprompt {one.name}`: {one.summary}" for one in commands)])
    )
    return "\n\n".join(parts) + "\n"


def _document(command: Entry) -> str:
    return " (`--json`)" if any("--json" in option.names for option in command.arguments) else ""
