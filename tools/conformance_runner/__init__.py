"""Runs conformance cases: recorded results of the peers and of the documents, against the parts of ais_prompt.

``python tools/conformance.py FILE...`` prints each case that fails with a diff, and how many passed. The format of a
case is described in ``tests/core/conformance/README.md``.

    cases      reading case files, and what a case aims at
    check      one case → passed, failed or skipped
    compare    what differs between the target and what came out
    outcome    what came out, and at which stage it ended
    …_case     how the cases of each category are run through the public classes of ais_prompt
"""
