"""Code of a peer runs in a process of its own: what it gives, and how it fails."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ais_prompt.data import find_data
from ais_prompt.errors import AisPromptError, ConfigError, DataError, MissingExtra, PartError
from ais_prompt.evaluators import AnswerBatch
from ais_prompt.extensions.peers.code import session
from ais_prompt.extensions.peers.code.calls import LoadCall, read_table, write_rows
from ais_prompt.extensions.peers.code.evaluators import PeerEvaluator
from ais_prompt.extensions.peers.code.importing import find_data as find_peer_data
from ais_prompt.extensions.peers.code.parts import PeerDataset, peer_postprocessor
from ais_prompt.extensions.peers.peer_packages import PEER_FOLDERS
from tests.support.peer_package import write_peer

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_peer(tmp_path_factory.mktemp("peer"))


@pytest.fixture(autouse=True)
def _named(peer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PEER_FOLDERS.variable, str(peer))
    monkeypatch.chdir(peer)


@pytest.fixture(scope="module", autouse=True)
def _stopped() -> Iterator[None]:
    yield
    session._SESSION.stop()


def rows(cls: str, split: str = "test", **kwargs: object) -> list[dict[str, object]]:
    return list(PeerDataset(f"opencompass.datasets.{cls}", kwargs).read(split))


@pytest.mark.parametrize(
    ("cls", "question"),
    [
        ("Renamed", "odd"),
        ("Hidden", "hidden"),
        ("InInit", "x"),
        ("odd.Odd", "odd"),
        ("deep.InInit", "x"),
        ("Passed", "odd"),
    ],
)
def test_a_name_is_found_without_running_a_package(cls: str, question: str) -> None:
    assert rows(cls)[0]["q"] == question
    assert "opencompass" not in sys.modules


def test_data_is_found_where_the_peer_keeps_it(peer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = PeerDataset("opencompass.datasets.RiddleDataset", {"path": "org/riddles"})
    with pytest.raises(DataError) as caught:
        reader.splits()
    assert f"{Path.cwd()}/data/riddles" in caught.value.what
    assert ".cache/opencompass/data/riddles" in caught.value.what
    assert "COMPASS_DATA_CACHE" in caught.value.fix
    assert "http://127.0.0.1/riddles.zip" in caught.value.fix
    folder = tmp_path / "data" / "riddles"
    folder.mkdir(parents=True)
    for split in ("train", "test"):
        (folder / f"easy_{split}.jsonl").write_text(json.dumps({"q": f"why {split}", "a": "so"}))
    monkeypatch.chdir(tmp_path)
    assert rows("RiddleDataset", path="org/riddles") == [{"q": "why test", "a": "so"}]
    assert reader.splits() == ("train", "test")


def test_built_in_loaders_look_in_the_same_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("home/.cache/opencompass", "work", "ais", "compass")
    for name in names:
        folder = tmp_path / name / "data" / "riddles"
        folder.mkdir(parents=True)
        for split in ("train", "test"):
            (folder / f"easy_{split}.jsonl").write_text(json.dumps({"q": name, "a": "so"}))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    found = []
    for change in (
        lambda: monkeypatch.chdir(tmp_path),
        lambda: monkeypatch.chdir(tmp_path / "work"),
        lambda: monkeypatch.setenv("AIS_BENCH_DATASETS_CACHE", str(tmp_path / "ais")),
        lambda: monkeypatch.setenv("COMPASS_DATA_CACHE", str(tmp_path / "compass")),
    ):
        change()
        theirs = Path(find_peer_data("ais_bench", "data/riddles"))
        native = find_data("./data/riddles/")
        assert native is not None
        assert native.resolve() == theirs
        found.append(theirs)
    assert found == [tmp_path / name / "data" / "riddles" for name in names]
    [row] = rows("RiddleDataset", path="org/riddles")
    assert row["q"] == names[-1]


@pytest.mark.parametrize("path", ["data/riddles", "data/riddles/", "./data/riddles/"])
def test_a_path_keeps_the_slash_to_which_loaders_add_a_name(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data" / "riddles").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    found = find_peer_data("ais_bench", path)
    assert Path(found) == tmp_path / "data" / "riddles"
    assert found.endswith("/") == path.endswith("/")


def test_a_loader_that_is_a_method_knows_its_dataset() -> None:
    assert rows("riddles.Instance", rows=2, abbr="mine") == [{"q": "mine", "a": "0"}, {"q": "mine", "a": "1"}]


@pytest.mark.parametrize(
    ("cls", "kind", "says"),
    [
        ("Leaves", PartError, "exit"),
        ("Crashes", PartError, "last words"),
        ("Raises", PartError, "KeyError: 'answer'"),
        ("Downloads", DataError, "192.0.2.1"),
        ("Uncached", DataError, "org/rows"),
        ("Asks", MissingExtra, "pip install riddle-tools"),
        ("AsksInstead", MissingExtra, "the package 'riddle-solver'"),
        ("Nothing", ConfigError, "opencompass.datasets.bad.Nothing"),
    ],
)
def test_bad_code_ends_one_call(cls: str, kind: type[AisPromptError], says: str) -> None:
    with pytest.raises(kind, match=says):
        rows(f"bad.{cls}")
    assert rows("Renamed")


def test_a_call_that_hangs_is_ended() -> None:
    path = "opencompass.datasets.bad.Hangs"
    assert rows("Renamed")
    with pytest.raises(PartError, match=r"took longer than 0\.5 s"):
        session.call_peer(LoadCall(path, {}, "."), path, 0.5)
    assert rows("Renamed")


def test_a_missing_package_has_the_name_that_pip_knows(peer: Path) -> None:
    module = peer / "opencompass" / "datasets" / "needs.py"
    for name, pip_name in (("bs4_fake", "bs4-fake"), ("rdkit_fake.Chem", "rdkit-fake")):
        module.write_text(f"import {name}\nclass Needs:\n    pass\n")
        with pytest.raises(MissingExtra) as caught:
            PeerDataset.check_arguments("opencompass.datasets.needs.Needs")
        assert repr(pip_name) in caught.value.what
        assert f"pip install {pip_name}" in caught.value.fix


def test_all_missing_packages_of_a_part_are_named_at_once(peer: Path) -> None:
    lines = [
        *("import bs4_fake", "from rdkit_fake.Chem import Atom, draw"),
        *("try:", "    import optional_fake", "except ImportError:", "    pass"),
        *("@draw(1)", "def drawn(x):", "    return x"),
        *("class Needs(Atom):", "    pass"),
    ]
    (peer / "opencompass" / "datasets" / "needs.py").write_text("\n".join(lines))
    with pytest.raises(MissingExtra) as caught:
        PeerDataset.check_arguments("opencompass.datasets.needs.Needs")
    assert "their code needs the packages 'bs4-fake', 'rdkit-fake'" in caught.value.what
    assert caught.value.fix == "pip install bs4-fake rdkit-fake"


def test_arguments_are_compared_with_the_signature() -> None:
    PeerDataset.check_arguments("opencompass.datasets.RiddleDataset", {"path": "x", "abbr": "y"})
    with pytest.raises(ConfigError, match="unexpected keyword argument 'nam'"):
        PeerDataset.check_arguments("opencompass.datasets.RiddleDataset", {"path": "x", "nam": "y"})
    with pytest.raises(ConfigError, match="factor"):
        PeerEvaluator.check_arguments("opencompass.datasets.Share")
    PeerEvaluator.check_arguments("opencompass.datasets.Share_100")


def test_a_postprocessor_is_a_function_of_a_text() -> None:
    assert peer_postprocessor("it is so.", function="opencompass.utils.last_word", kwargs={"strip": "."}) == "so"


def scored(evaluator: PeerEvaluator, predictions: list[str], golds: list[str]) -> tuple[dict, dict]:
    rows = [{"q": "why"}] * len(golds)
    found = evaluator.score_all(AnswerBatch(predictions, golds, ["prompt"] * len(golds), lambda: rows))
    return dict(found.metrics), dict(found.each)


def test_an_evaluator_gets_what_it_asks_for() -> None:
    path = "opencompass.openicl.icl_evaluator.Detailed"
    metrics, each = scored(PeerEvaluator(path), ["a", "b", "c"], ["a", "b", "x"])
    assert metrics == {"accuracy": pytest.approx(200 / 3), "questions": 3, "lengths/q": 3}
    assert each == {"accuracy": [1, 1, 0]}
    by_name = PeerEvaluator(path, {"pred_postprocessor": {"type": "last-word"}})
    assert scored(by_name, ["it is a"], ["a"])[0]["accuracy"] == 100
    dotted = PeerEvaluator(path, {"pred_postprocessor": {"type": "opencompass.utils.texts.last_word"}})
    assert scored(dotted, ["it is a"], ["a"])[0]["accuracy"] == 100


def test_an_evaluator_may_be_a_name_that_a_module_registers() -> None:
    metrics, each = scored(PeerEvaluator("opencompass.datasets.Share_100"), ["a", "b"], ["a", "x"])
    assert (metrics, each) == ({"share": 50}, {})


def test_an_evaluator_gets_prompts_in_the_form_of_the_peer() -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    batch = AnswerBatch(["so"], None, [messages], lambda: [{}])
    found = PeerEvaluator("opencompass.openicl.icl_evaluator.Asked").score_all(batch)
    assert found.metrics == {"SYSTEM": 9, "HUMAN": 4}


@pytest.mark.parametrize(("cls", "says"), [("WantsHints", "'hints'"), ("Complains", "lengths differ")])
def test_what_an_evaluator_cannot_do_is_said(cls: str, says: str) -> None:
    with pytest.raises(AisPromptError, match=says):
        scored(PeerEvaluator(f"opencompass.openicl.icl_evaluator.{cls}"), ["a"], ["a"])


def test_a_peer_that_is_nowhere_is_one_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PEER_FOLDERS.variable)
    with pytest.raises(MissingExtra, match="not installed"):
        rows("Renamed")


def test_an_evaluator_of_all_answers_may_be_the_rule_of_a_cascade() -> None:
    rule = PeerEvaluator("opencompass.datasets.Share_100")
    assert [rule.score(answer, "a")["accuracy"] for answer in ("a", "b", None)] == [1, 0, 0]
    with pytest.raises(ConfigError, match="asks for the rows"):
        PeerEvaluator("opencompass.openicl.icl_evaluator.Detailed").score("a", "a")


def test_a_call_that_was_interrupted_leaves_no_reply_behind() -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    assert rows("Renamed")
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            rows("bad.Hangs")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rows("Renamed")[0]["q"] == "odd"


def test_a_worker_can_be_stopped_while_it_works() -> None:
    assert rows("Renamed")
    stopping = threading.Timer(0.3, session._SESSION.stop)
    stopping.start()
    with pytest.raises(PartError, match="ended its process"):
        rows("bad.Hangs")
    stopping.join()


def test_rows_that_datasets_cannot_hold_are_an_error_of_the_data(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the column 'a' has values that `datasets` does not hold together"):
        write_rows([{"a": 1}, {"a": "one"}], str(tmp_path / "rows.arrow"))
    write_rows([{"a": 1}, {"b": "two"}], str(tmp_path / "rows.arrow"))
    assert read_table(str(tmp_path / "rows.arrow")).to_pylist() == [{"a": 1, "b": None}, {"a": None, "b": "two"}]
