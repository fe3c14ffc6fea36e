"""What comes from the environment: what is part of an identity, and what no file or message may hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import AssayError, PluginError, SystemFailure
from assay.core.parts import Fusion
from assay.core.protocols import Kit
from assay.core.records import Fault, Response
from assay.core.registry import FUSIONS, SYSTEMS, Registry
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import run_study
from assay.report.html import HtmlReport
from assay.study.parameters import conceal_variables, fill_variables
from probe import Probe
from probing import forget_asked, items, opened, times_asked, write_study

ENV = {"SEARCH_URL": "https://one.example/v1", "SEARCH_TOKEN": "s3cr3t/+value", "PORT": "80"}


@dataclass(frozen=True)
class Remote(Probe):
    """Tells in every failure what it was given."""

    url: str = ""
    token: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    unopened: bool = False

    def build(self, *given: Any) -> Any:
        if self.unopened:
            raise ConnectionError(f"{self.url} refused {self.token}")
        return _Remote(super().build(*given), self)


@dataclass
class _Remote:
    index: Any
    remote: Remote

    def session(self) -> _Remote:
        return self

    def answer(self, query: Any, budgets: Any) -> Response:
        told = f"GET {self.remote.url}/search?key={self.remote.token} {self.remote.headers}"
        if query.item_id == "q0":
            raise ValueError("x" * 1990 + told)  # cut in the midst of what it gives away
        if query.item_id == "q1":
            return Response(error=Fault("Denied", told))
        return self.index.session().answer(query, budgets)  # type: ignore[no-any-return]


REMOTE = {
    "use": "probe",
    "url": "${SEARCH_URL}",
    "token": "${SEARCH_TOKEN}",
    "headers": {"Authorization": "Bearer ${SEARCH_TOKEN}"},
}


def asked_again(folder: Path, env: Mapping[str, str]) -> int:
    forget_asked(folder)
    run_study(opened(folder, Remote, env))
    return sum(times_asked(folder).values())


@pytest.mark.parametrize(
    "spec", [REMOTE, "probe(url=${SEARCH_URL}, token='${SEARCH_TOKEN}')"], ids=["mapping", "text"]
)
def test_a_rotated_secret_asks_nothing_again_and_another_endpoint_everything(
    tmp_path: Path, spec: Any
) -> None:
    write_study(tmp_path, items(6)[2:], systems={"probe": spec})
    assert asked_again(tmp_path, ENV) == 4
    assert asked_again(tmp_path, {**ENV, "SEARCH_TOKEN": "rotated"}) == 0
    assert asked_again(tmp_path, {**ENV, "SEARCH_URL": "https://two.example/v1"}) == 4


def test_no_file_of_a_run_holds_a_value_of_the_environment(tmp_path: Path) -> None:
    write_study(tmp_path, items(4), systems={"probe": REMOTE}, run={"retries": 0})
    study = opened(tmp_path, Remote, ENV)
    run_study(study)
    results = Evaluation(study).results
    page = HtmlReport().render(results)
    stored = [path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert b"Denied" in b"".join(stored)
    for content in (page, *stored):
        assert b"s3cr3t" not in content
        assert b"one.example" not in content
    assert b"${SEARCH_TOKEN}" in b"".join(stored)


def test_a_system_that_cannot_be_opened_gives_nothing_away(tmp_path: Path) -> None:
    write_study(tmp_path, items(1), systems={"probe": {**REMOTE, "unopened": True}})
    with pytest.raises(SystemFailure, match=r"\$\{SEARCH_URL\} refused \$\{SEARCH_TOKEN\}"):
        run_study(opened(tmp_path, Remote, ENV))


def test_a_system_that_cannot_be_made_gives_nothing_away(tmp_path: Path) -> None:
    study = opened(write_study(tmp_path, items(1)), Remote, ENV)
    study.file.systems["probe"] = {"use": "probe", "top": "${SEARCH_TOKEN}", "unopened": "${SEARCH_URL}"}
    with pytest.raises(PluginError) as refused:
        study.system(study.arms[0])
    assert "s3cr3t" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("API_KEY", True),
        ("OPENAI_APIKEY", True),
        ("hf_token", True),
        ("KEY", True),
        ("DB_PASSWORD_FILE", True),
        ("AWS_CREDENTIALS", True),
        ("PGPASSWORD", True),
        ("MYAPIKEY", True),
        ("DB_PASS", True),
        ("DB_PWD", True),
        ("GITHUB_PAT", True),
        ("MONKEY_URL", False),
        ("PATH", False),
        ("COMPASS_URL", False),
        ("TOKENIZER", False),
        ("HOST", False),
    ],
)
def test_a_secret_is_told_by_a_word_of_its_name(name: str, secret: bool) -> None:
    kept = fill_variables(f"${{{name}}}", Kit(env={name: "value"}), secrets=False)
    assert (kept == f"${{{name}}}") == secret


def concealing(env: Mapping[str, str]) -> Callable[[str], str]:
    kit = Kit(env=env)
    for name in env:
        kit.secret(name)
    return partial(conceal_variables, kit=kit)


def test_other_values_are_concealed_as_words_and_secrets_everywhere() -> None:
    conceal_variables = concealing(ENV)
    assert conceal_variables("port 80 of 8080") == "port ${PORT} of 8080"
    assert conceal_variables("xs3cr3t/+valuey") == "x${SEARCH_TOKEN}y"
    assert conceal_variables("?key=s3cr3t%2F%2Bvalue") == "?key=${SEARCH_TOKEN}"
    assert concealing({"A_KEY": "", "B": ""})("nothing to hide") == "nothing to hide"
    assert concealing({"A_KEY": "ab", "B_KEY": "abc"})("abc") == "${B_KEY}"


@given(secret=st.text("0123+/ %.*\\é", min_size=1), around=st.text("ab:{}\n", max_size=9))
def test_no_secret_survives(secret: str, around: str) -> None:
    conceal_variables = concealing({"THE_KEY": secret})
    assert conceal_variables(f"{around}{secret}{around}") == f"{around}${{THE_KEY}}{around}"


def test_what_a_plugin_asks_the_kit_for_is_concealed_and_nothing_else() -> None:
    kit = Kit(env=ENV)
    assert conceal_variables("80 and s3cr3t/+value", kit) == "80 and s3cr3t/+value"  # nobody was told
    kit.secret("SEARCH_TOKEN")
    assert conceal_variables("80 and s3cr3t/+value", kit) == "80 and ${SEARCH_TOKEN}"


@dataclass(frozen=True)
class Keyed:
    """A part with a key."""

    key: str

    def fuse(self, rankings: object) -> object:
        return rankings


@dataclass(frozen=True)
class Outer:
    """A system with such a part."""

    part: Annotated[Fusion, FUSIONS]
    name: str = ""


@pytest.mark.parametrize(
    "spec",
    [
        "outer(part=keyed(key=${API_KEY}), name=${API_KEY})",
        {"use": "outer", "part": "keyed(key=${API_KEY})", "name": "${API_KEY}"},
        {"use": "outer", "part": {"use": "keyed", "key": "${API_KEY}"}, "name": "${API_KEY}"},
    ],
)
@pytest.mark.parametrize("value", ["a=b, c) [d] 'e", "123", "x, name=evil"])
def test_no_character_of_a_secret_is_read_as_a_part_of_the_spec(spec: Any, value: str) -> None:
    registry = Registry({SYSTEMS: {"outer": Outer}, FUSIONS: {"keyed": Keyed}})
    made = registry.create(SYSTEMS, spec, partial(fill_variables, kit=Kit(env={"API_KEY": value})))
    assert made == Outer(Keyed(value), value)


def test_a_chunker_that_cannot_be_made_gives_nothing_away(tmp_path: Path) -> None:
    write_study(tmp_path, items(1))
    text = (tmp_path / "study.yaml").read_text()
    (tmp_path / "study.yaml").write_text("chunk: tokens(size=${MY_TOKEN})\n" + text)
    with pytest.raises(AssayError) as refused:
        opened(tmp_path, Probe, {"MY_TOKEN": "-4242"})
    assert "${MY_TOKEN}" in str(refused.value)
    assert "4242" not in str(refused.value)
