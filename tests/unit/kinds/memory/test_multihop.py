"""HotpotQA, MuSiQue, 2WikiMultiHopQA and HoVer: small files in their forms, and samples of the real ones."""

from __future__ import annotations

import copy
import gzip
import json
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from assay.core.dataset import Dataset
from assay.core.errors import DataError, UsageError
from assay.core.protocols import Kit
from assay.core.records import Document, Item, Passage, Span
from assay.core.registry import DATASETS, Registry
from assay.datasets.public import release
from assay.datasets.public.catalogue import CatalogueEntry, Download, Licence
from assay.datasets.public.release import UNKNOWN
from assay.kinds.memory.datasets.multihop import HotpotQA, Hover, MuSiQue, TwoWiki
from assay.kinds.memory.datasets.paragraphs import UNPROVEN

MILL = ["The mill stands on the Orr.", " It was built by Ada Finch.", "  ", " It burned down in 1911."]
FINCH = ["Ada Finch was an engineer.", "She was born in Tollen."]
HOTPOT: list[dict[str, Any]] = [
    {
        "_id": "q1",
        "question": "Where was the builder of the mill born?",
        "answer": "Tollen",
        "type": "bridge",
        "level": "hard",
        "context": [["Orr Mill", MILL], ["Ada Finch", FINCH]],
        "supporting_facts": [["Orr Mill", 1], ["ada  finch", 1]],
    },
    {
        "_id": "q2",
        "question": "Are both on the Orr?",
        "answer": "yes",
        "type": "comparison",
        "level": "easy",
        "context": [["Orr mill", ["Another mill of that name."]], ["Ada Finch", FINCH]],
        "supporting_facts": [["Orr mill", 0]],
    },
]


def written(path: Path, content: Any) -> str:
    """The name of a file that holds this: bytes as they are, anything else as JSON."""
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return str(path)


def hotpot(folder: Path, content: Any = HOTPOT, **how: Any) -> Dataset:
    return HotpotQA(written(folder / "hotpot.json", content), **how).load(Kit())


def changed(number: int, **fields: Any) -> list[dict[str, Any]]:
    """The two questions, one of them with other fields; None takes a field away."""
    records = copy.deepcopy(HOTPOT)
    records[number] = {name: value for name, value in (records[number] | fields).items() if value is not None}
    return records


# ---------------------------------------------------------------------------------------- HotpotQA


def test_a_sentence_is_a_node_and_a_paragraph_is_the_document_it_was_cut_from(tmp_path: Path) -> None:
    corpus = hotpot(tmp_path).corpus
    pack = {"pack": "sentence_chain"}
    # 27 characters, a space, 26 characters, a space: the third sentence is blank, and is not a node
    assert corpus.passages[:3] == [
        Passage(
            "orr_mill:0", "The mill stands on the Orr.", "Orr Mill", "orr_mill", Span(0, 27), metadata=pack
        ),
        Passage(
            "orr_mill:1", "It was built by Ada Finch.", "Orr Mill", "orr_mill", Span(28, 54), metadata=pack
        ),
        Passage("orr_mill:3", "It burned down in 1911.", "Orr Mill", "orr_mill", Span(55, 78), metadata=pack),
    ]
    text = "The mill stands on the Orr. It was built by Ada Finch. It burned down in 1911."
    assert corpus.documents["orr_mill"] == Document("orr_mill", text, "Orr Mill")
    for each in corpus.passages:
        assert each.source is not None
        assert each.span is not None
        assert corpus.documents[each.source].text[each.span.start : each.span.end] == each.text


def test_a_question_has_its_own_sentences_as_scope_and_its_support_as_gold(tmp_path: Path) -> None:
    assert hotpot(tmp_path).items[0] == Item(
        "q1",
        "Where was the builder of the mill born?",
        tags={
            "type": ["bridge"],
            "level": ["hard"],
            "hops": ["2"],
            "dataset": ["hotpotqa"],
            "policy": ["all"],
            "multi_hop": ["yes"],
            "evidence": ["whole"],
        },
        gold={
            "relevant": {"orr_mill:1": 1.0, "ada_finch:1": 1.0},
            "minimum_evidence_matches": 2,
            "answers": ["Tollen"],
        },
        scope=["orr_mill:0", "orr_mill:1", "orr_mill:3", "ada_finch:0", "ada_finch:1"],
    )


def test_another_paragraph_of_the_same_title_has_a_stem_of_its_own_and_the_same_one_is_shared(
    tmp_path: Path,
) -> None:
    loaded = hotpot(tmp_path)
    assert loaded.items[1].scope == ["orr_mill#2:0", "ada_finch:0", "ada_finch:1"]
    assert loaded.items[1].gold["relevant"] == {"orr_mill#2:0": 1.0}
    assert len(loaded.corpus) == 6


def test_two_paragraphs_of_one_question_whose_titles_are_alike_are_distinguished_by_their_spelling(
    tmp_path: Path,
) -> None:
    context = [["THE ORR", ["A band."]], ["The Orr", ["A river.", "It is cold."]]]
    facts = [["The Orr", 0], ["THE ORR", 0], ["the orr", 1]]
    item = hotpot(tmp_path, changed(0, context=context, supporting_facts=facts)).items[0]
    # the last is spelt as neither: it is found in the paragraph that has such a sentence
    assert list(item.gold["relevant"]) == ["the_orr#2:0", "the_orr:0", "the_orr#2:1"]


def test_the_policy_is_named_and_decides_how_much_evidence_is_enough(tmp_path: Path) -> None:
    every, one = hotpot(tmp_path), hotpot(tmp_path, policy="any")
    assert [item.gold["minimum_evidence_matches"] for item in every.items] == [2, 1]
    assert [item.gold["minimum_evidence_matches"] for item in one.items] == [1, 1]
    assert "every one of them is returned (policy 'all')" in every.label_definitions["evidence"]
    assert "at least one of them is returned (policy 'any')" in one.label_definitions["evidence"]
    assert one.items[0].values("policy") == ["any"]


def test_a_richer_graph_has_another_name_and_another_pack(tmp_path: Path) -> None:
    plain, rich = hotpot(tmp_path), hotpot(tmp_path, graph="links")
    assert (plain.name, rich.name) == ("hotpotqa-adjacent", "hotpotqa-links")
    assert {each.metadata["pack"] for each in rich.corpus.passages} == {"sentence_links"}
    assert plain.hash != rich.hash


def test_it_says_what_it_is_and_what_it_does_not_show(tmp_path: Path) -> None:
    loaded = hotpot(tmp_path)
    assert loaded.layer == "public"
    assert loaded.unproven == (UNKNOWN, *UNPROVEN)


def locked(folder: Path, path: Path, pinned: str) -> None:
    """The lock that `assay data get` writes beside a file."""
    content = path.read_bytes()
    file = {"sha256": sha256(content).hexdigest(), "bytes": len(content), "source": "x", "pinned": pinned}
    lock = {"schema": "assay/data-lock/1", "name": "hotpotqa", "files": {path.name: file}}
    (folder / "data.lock.json").write_text(json.dumps(lock))


def test_a_file_is_the_official_one_where_the_lock_beside_it_says_so(tmp_path: Path) -> None:
    path = tmp_path / "hotpot.json"
    written(path, HOTPOT)
    for pinned in ("release", "first download"):
        locked(tmp_path, path, pinned)
        assert HotpotQA(str(path)).load(Kit()).unproven == UNPROVEN
    packed = tmp_path / "hotpot.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert HotpotQA(str(packed)).load(Kit()).unproven == UNPROVEN
    path.write_bytes(path.read_bytes() + b" ")
    assert HotpotQA(str(path)).load(Kit()).unproven[0] == UNKNOWN
    path.write_bytes(path.read_bytes()[:-1].replace(b"Tollen", b"Tullen"))
    assert HotpotQA(str(path)).load(Kit()).unproven[0] == UNKNOWN
    locked(tmp_path, path, "local copy")
    assert HotpotQA(str(path)).load(Kit()).unproven[0] == UNKNOWN
    (tmp_path / "data.lock.json").write_bytes(b"{\xff")
    assert HotpotQA(str(path)).load(Kit()).unproven[0] == UNKNOWN


def test_a_file_is_the_official_one_where_the_catalogue_has_its_checksum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "any_name.json"
    written(path, HOTPOT)
    content = path.read_bytes()
    kept = Download("h.json", "http://x", sha256(content).hexdigest(), len(content))
    entry = CatalogueEntry("about", "hotpotqa", "home", Licence("MIT", "there"), [kept])
    monkeypatch.setattr(release, "read_catalogue", lambda: {"hotpotqa": entry})
    assert HotpotQA(str(path)).load(Kit()).unproven == UNPROVEN
    path.write_bytes(content.replace(b"Tollen", b"Tullen"))
    assert HotpotQA(str(path)).load(Kit()).unproven == (UNKNOWN, *UNPROVEN)


def test_items_say_how_much_of_their_evidence_is_there(tmp_path: Path) -> None:
    facts = [["Orr Mill", 1], ["Nobody", 0], ["Ada Finch", 0]]
    loaded = hotpot(tmp_path, changed(0, supporting_facts=facts))
    assert loaded.items[0].values("evidence") == ["partial"]
    assert loaded.items[0].gold["minimum_evidence_matches"] == 2  # all that are left
    assert loaded.items[1].values("evidence") == ["whole"]
    lost = hotpot(tmp_path, changed(0, supporting_facts=[["Nobody", 0]])).items[0]
    assert lost.values("evidence") == ["none"]
    assert "evidence=partial, those that are left" in loaded.label_definitions["evidence"]


def test_facts_that_name_nothing_are_reported_and_left_out(tmp_path: Path) -> None:
    facts = [["Orr Mill", 9], ["Orr Mill", 2], ["Nobody", 0], ["Ada Finch", 0]]
    loaded = hotpot(tmp_path, changed(0, supporting_facts=facts))
    assert loaded.items[0].gold["relevant"] == {"ada_finch:0": 1.0}
    assert loaded.items[0].gold["minimum_evidence_matches"] == 1
    (warning,) = loaded.warnings
    assert "hotpot.json: 3 supporting facts name nothing that is there" in warning
    assert "'Orr Mill' 9 of 'q1', 'Orr Mill' 2 of 'q1', 'Nobody' 0 of 'q1'" in warning


def test_an_item_without_any_fact_left_is_kept_and_reported(tmp_path: Path) -> None:
    loaded = hotpot(tmp_path, changed(1, supporting_facts=[["Nobody", 0]]))
    assert loaded.items[1].gold == {"relevant": {}, "answers": ["yes"]}
    assert "1 items have no supporting fact left: 'q2'" in loaded.warnings[1]


def test_a_limit_takes_the_first_questions_and_changes_no_name(tmp_path: Path) -> None:
    whole, part = hotpot(tmp_path), hotpot(tmp_path, limit=1)
    assert part.items == whole.items[:1]
    assert part.corpus.passages == whole.corpus.passages[:5]


def test_gzip_and_lines_read_the_same(tmp_path: Path) -> None:
    plain = hotpot(tmp_path)
    lines = "\n".join(json.dumps(each) for each in HOTPOT).encode()
    assert hotpot(tmp_path, gzip.compress(json.dumps(HOTPOT).encode())).hash == plain.hash
    by_line = hotpot(tmp_path, lines)
    assert by_line.hash == plain.hash
    assert by_line.places["q2"].line == 2


def test_every_problem_is_reported_at_once_with_its_record(tmp_path: Path) -> None:
    broken = [
        *changed(0, question=None),
        changed(0, _id="q3", context=[["Title", "no list"]])[0],
        changed(0, _id="q4", supporting_facts=[["Title", "one"]])[0],
        changed(1)[1],
    ]
    with pytest.raises(DataError) as found:
        hotpot(tmp_path, broken)
    first, third, fourth, fifth = map(str, found.value.problems)
    assert "hotpot.json, record 1: question: the field is missing" in first
    assert "record 3: context[0][1]: expected array, got str" in third
    assert "record 4: supporting_facts[0][1]: expected int, got str" in fourth
    assert "record 5: the id 'q2' stands at" in fifth
    assert "record 2 already" in fifth


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "there is no record in it"),
        (b"[]", "there is no record in it"),
        (b"[{}", "not JSON"),
        (b"nonsense", "hotpot.json:1: not JSON"),
        ([{**HOTPOT[0], "context": []}], "record 1: context: no sentence is shown with it"),
        ([{**HOTPOT[0], "context": [["T", [" "]]]}], "record 1: context: no sentence is shown with it"),
        ([{**HOTPOT[0], "question": ""}], "record 1: question: expected str of length >= 1"),
    ],
)
def test_files_that_cannot_be_used_are_refused(tmp_path: Path, content: Any, what: str) -> None:
    with pytest.raises(DataError) as found:
        hotpot(tmp_path, content)
    assert what in str(found.value)


def test_studies_name_them(tmp_path: Path) -> None:
    written(tmp_path / "hotpot.json", HOTPOT)
    loaded = Registry().create(DATASETS, "hotpotqa(path=hotpot.json, graph=links, limit=1)")
    assert len(loaded.load(Kit(root=tmp_path)).items) == 1
    for name, cls in {"musique": MuSiQue, "twowiki": TwoWiki, "hover": Hover}.items():
        assert type(Registry().create(DATASETS, f"{name}:some.json")) is cls


# ----------------------------------------------------------------------------------------- MuSiQue


def paragraph(idx: int, title: str, text: str, *, supports: bool = False) -> dict[str, Any]:
    return {"idx": idx, "title": title, "paragraph_text": text, "is_supporting": supports}


MUSIQUE: list[dict[str, Any]] = [
    {
        "id": "3hop1__1_2_3",
        "question": "Who runs the town where the builder was born?",
        "answer": "Ida Moss",
        "answer_aliases": ["Moss", "Ida Moss"],
        "answerable": True,
        "question_decomposition": [{"id": 1, "question": "?", "answer": "?", "paragraph_support_idx": 0}],
        "paragraphs": [
            paragraph(0, "Orr Mill", "Ada Finch built it.", supports=True),
            paragraph(1, "Orr Mill", "It burned down."),
            paragraph(2, "Tollen", "Ida Moss is mayor.", supports=True),
        ],
    },
    {
        "id": "2hop__4_5",
        "question": "Who built the mill?",
        "answer": "Ada Finch",
        "paragraphs": [
            paragraph(0, "Tollen", "Ida Moss is mayor."),
            paragraph(1, "Orr Mill", "Ada Finch built it."),
        ],
    },
]


def musique(folder: Path, content: Any = MUSIQUE, **how: Any) -> Dataset:
    return MuSiQue(written(folder / "musique.jsonl", content), **how).load(Kit())


def test_a_paragraph_is_a_node_under_its_number_in_the_question(tmp_path: Path) -> None:
    loaded = musique(tmp_path)
    assert loaded.items[0] == Item(
        "3hop1__1_2_3",
        "Who runs the town where the builder was born?",
        tags={
            "hops": ["3"],
            "shape": ["3hop1"],
            "answerable": ["yes"],
            "dataset": ["musique"],
            "policy": ["all"],
            "multi_hop": ["yes"],
            "evidence": ["whole"],
        },
        gold={
            "relevant": {"orr_mill:0": 1.0, "tollen:2": 1.0},
            "minimum_evidence_matches": 2,
            "answers": ["Ida Moss", "Moss"],
        },
        scope=["orr_mill:0", "orr_mill#2:1", "tollen:2"],
    )
    # the same paragraph at another place of another question: another node of the same document
    assert loaded.items[1].scope == ["tollen:0", "orr_mill:1"]
    assert set(loaded.corpus.documents) == {"orr_mill", "orr_mill#2", "tollen"}
    assert loaded.items[1].values("hops") == ["2"]


def test_a_question_without_support_is_kept_and_reported(tmp_path: Path) -> None:
    loaded = musique(tmp_path)
    assert loaded.items[1].gold == {"relevant": {}, "answers": ["Ada Finch"]}
    assert loaded.warnings == [
        f"{tmp_path / 'musique.jsonl'}: 1 items have no supporting fact left: '2hop__4_5'"
    ]


def test_the_twin_that_cannot_be_answered_expects_nothing(tmp_path: Path) -> None:
    twin = {**MUSIQUE[0], "answerable": False}
    lines = "\n".join(map(json.dumps, [MUSIQUE[0], twin])).encode()
    loaded = musique(tmp_path, lines)
    assert [item.item_id for item in loaded.items] == ["3hop1__1_2_3", "3hop1__1_2_3~unanswerable"]
    assert loaded.items[1].expects == "nothing"
    assert loaded.items[1].gold == {}
    assert loaded.warnings == []


def test_an_id_without_a_shape_has_as_many_hops_as_its_question_has_parts(tmp_path: Path) -> None:
    loaded = musique(tmp_path, [{**MUSIQUE[0], "id": "own-1", "question_decomposition": [{}, {}, {}]}])
    assert loaded.items[0].values("hops") == ["3"]
    assert loaded.items[0].values("shape") == []


def test_neighbours_link_no_paragraphs_and_it_says_so(tmp_path: Path) -> None:
    loaded = musique(tmp_path, MUSIQUE[:1], graph="adjacent")
    assert loaded.warnings == [
        "graph 'adjacent': each paragraph is a document of its own, so that no two are linked"
    ]


def test_a_number_given_twice_is_a_problem(tmp_path: Path) -> None:
    doubled = [paragraph(4, "A", "a", supports=True), paragraph(4, "B", "b")]
    with pytest.raises(DataError, match=r"record 1: paragraphs: 2 paragraphs have the idx 4"):
        musique(tmp_path, [{**MUSIQUE[0], "paragraphs": doubled}])


# --------------------------------------------------------------------------------- 2WikiMultiHopQA

PAGES = [
    {"title": "Ada Finch", "text": "She was born in Tollen."},
    {"title": "Orr Mill", "text": "Ada Finch built it."},
    {"title": "Orr mill", "text": "Another mill."},
    {"title": "Blank", "text": " "},
    {"title": "Twice", "text": "one"},
    {"title": "Twice", "text": "two"},
]


def test_the_release_is_read_by_sentence(tmp_path: Path) -> None:
    records = [{**each, "evidences": [["Orr Mill", "builder", "Ada Finch"]]} for each in HOTPOT]
    loaded = TwoWiki(written(tmp_path / "2wiki.json", records)).load(Kit())
    assert loaded.items[0].scope == ["orr_mill:0", "orr_mill:1", "orr_mill:3", "ada_finch:0", "ada_finch:1"]
    assert loaded.items[0].values("dataset") == ["2wikimultihopqa"]
    assert loaded.name == "2wikimultihopqa-links"


def test_a_corpus_beside_the_file_is_searched_by_title(tmp_path: Path) -> None:
    facts = [["Orr Mill", 1], ["Orr Mill", 0], ["ada finch", 1], ["Twice", 0], ["Blank", 0], ["Nobody", 0]]
    records = [{"_id": "q1", "question": "Who?", "type": "inference", "supporting_facts": facts}]
    pages = written(tmp_path / "pages.json", PAGES)
    loaded = TwoWiki(written(tmp_path / "2wiki.json", records), corpus=pages).load(Kit())
    assert [each.doc_id for each in loaded.corpus.passages] == [
        "ada_finch:0",
        "orr_mill:0",
        "orr_mill#2:0",
        "twice:0",
        "twice#2:0",
    ]
    (item,) = loaded.items
    assert list(item.gold["relevant"]) == ["orr_mill:0", "ada_finch:0", "twice:0"]
    assert item.scope is None
    lost, doubled = loaded.warnings
    assert (
        "2 supporting facts name nothing that is there, and are left out: 'Blank' of 'q1', 'Nobody'" in lost
    )
    assert "1 titles of supporting facts are here more than once, and the first counts: 'Twice'" in doubled


def beir(folder: Path, about: Any) -> Path:
    pages = [json.dumps({"_id": f"p{place}", **page}) for place, page in enumerate(PAGES)]
    written(folder / "corpus.jsonl", "\n".join(pages).encode())
    written(folder / "queries.jsonl", {"_id": "q", "text": "Where?", "metadata": about})
    (folder / "qrels").mkdir()
    written(folder / "qrels" / "test.tsv", b"q\tp0\t1\nq\tp1\t1\nq\tp2\t0\n")
    return folder


def test_a_folder_keeps_the_ids_of_its_qrels(tmp_path: Path) -> None:
    about = {
        "type": "compositional",
        "answer": "Tollen",
        "supporting_facts": [["Orr Mill", 0], ["Ada Finch", 0]],
    }
    loaded = TwoWiki(str(beir(tmp_path, about)), policy="any").load(Kit())
    (item,) = loaded.items
    assert item.gold == {
        "relevant": {"p0": 1.0, "p1": 1.0},
        "minimum_evidence_matches": 1,
        "answers": ["Tollen"],
    }
    assert (item.values("type"), item.values("hops"), item.scope) == (["compositional"], ["2"], None)
    assert loaded.corpus.passages[0].metadata == {"pack": "sentence_links"}
    assert loaded.warnings == []


def test_a_title_that_the_qrels_do_not_mark_is_reported(tmp_path: Path) -> None:
    folder = beir(tmp_path, {"supporting_facts": [["Orr Mill", 0], ["Twice", 0]]})
    (warning,) = TwoWiki(str(folder)).load(Kit()).warnings
    assert warning.startswith(
        "1 titles of supporting facts are none of the relevant passages': 'Twice' of 'q'"
    )
    with pytest.raises(UsageError, match="one of its own"):
        TwoWiki(str(folder), corpus="pages.json").load(Kit())


# ------------------------------------------------------------------------------------------- HoVer

CLAIM: dict[str, Any] = {
    "uid": "c1",
    "claim": "The builder of the Orr Mill was born in Tollen.",
    "supporting_facts": [["Orr Mill", 0], ["Ada Finch", 0], ["Ada Finch", 1]],
    "label": "NOT_SUPPORTED",
    "num_hops": 2,
    "hpqa_id": "5ab",
}


def test_claims_find_their_evidence_by_title(tmp_path: Path) -> None:
    pages = written(tmp_path / "pages.jsonl", "\n".join(map(json.dumps, PAGES)).encode())
    loaded = Hover(written(tmp_path / "hover.json", [CLAIM]), pages).load(Kit())
    (item,) = loaded.items
    assert item.gold == {"relevant": {"orr_mill:0": 1.0, "ada_finch:0": 1.0}, "minimum_evidence_matches": 2}
    assert (item.values("label"), item.values("hops")) == (["not_supported"], ["2"])
    assert item.scope is None


def test_claims_with_a_context_find_their_evidence_by_sentence(tmp_path: Path) -> None:
    claim = {**CLAIM, "context": HOTPOT[0]["context"]}
    (item,) = Hover(written(tmp_path / "hover.json", [claim])).load(Kit()).items
    assert list(item.gold["relevant"]) == ["orr_mill:0", "ada_finch:0", "ada_finch:1"]
    assert len(item.scope or ()) == 5


def test_claims_with_neither_say_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"record 1: context: no sentence .* name a corpus"):
        Hover(written(tmp_path / "hover.json", [CLAIM])).load(Kit())
    with pytest.raises(DataError, match="label"):
        Hover(written(tmp_path / "hover.json", [{**CLAIM, "label": "MAYBE"}])).load(Kit())


# ----------------------------------------------------------------------------------- the real data


def counted(loaded: Dataset, tag: str) -> Counter[str]:
    return Counter(value for item in loaded.items for value in item.values(tag))


def all_resolve(loaded: Dataset) -> bool:
    """Whether every item has gold, all of it within what the item is asked of."""
    return all(
        item.gold["relevant"]
        and set(item.gold["relevant"]) <= set(item.scope or loaded.corpus.position)
        and set(item.scope or ()) <= set(loaded.corpus.position)
        for item in loaded.items
    )


def test_the_sample_of_hotpotqa(shared_data: Callable[[str], Path]) -> None:
    loaded = HotpotQA(str(shared_data("multihop") / "hotpotqa_train.json.gz")).load(Kit())
    assert len(loaded.items) == 100
    assert counted(loaded, "type") == {"bridge": 78, "comparison": 22}
    assert counted(loaded, "level") == {"easy": 16, "medium": 69, "hard": 15}
    # 4,139 sentences by count, two of them blank
    assert (len(loaded.corpus), len(loaded.corpus.documents)) == (4137, 994)
    assert sum(len(item.gold["relevant"]) for item in loaded.items) == 229
    assert all_resolve(loaded)
    assert loaded.warnings == []


def test_the_sample_of_musique(shared_data: Callable[[str], Path]) -> None:
    loaded = MuSiQue(str(shared_data("multihop") / "musique_train.json.gz")).load(Kit())
    assert len(loaded.items) == 100
    assert counted(loaded, "shape") == {"2hop": 68, "3hop1": 24, "3hop2": 3, "4hop1": 3, "4hop3": 2}
    # 68 with 2, 24 + 3 with 3, 3 + 2 with 4: 68·2 + 27·3 + 5·4 = 237
    assert counted(loaded, "hops") == {"2": 68, "3": 27, "4": 5}
    assert sum(len(item.gold["relevant"]) for item in loaded.items) == 237
    assert {len(item.scope or ()) for item in loaded.items} == {20}
    assert all_resolve(loaded)
    assert loaded.warnings == []


def test_the_354_of_2wikimultihopqa(shared_data: Callable[[str], Path]) -> None:
    loaded = TwoWiki(str(shared_data("multihop") / "beir" / "2wiki354")).load(Kit())
    assert len(loaded.items) == 354
    assert counted(loaded, "type") == {
        "compositional": 146,
        "bridge_comparison": 83,
        "comparison": 67,
        "inference": 58,
    }
    # four pages for a bridge comparison, two for all others: 83·4 + 271·2 = 874
    assert counted(loaded, "hops") == {"2": 271, "4": 83}
    assert sum(len(item.gold["relevant"]) for item in loaded.items) == 874
    assert len(loaded.corpus) == 6119
    assert all_resolve(loaded)
    assert loaded.warnings == []


def test_the_tiny_fixture_of_hotpotqa(shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("structured_memory") / "benchmarks" / "external"
    loaded = HotpotQA(str(folder / "hotpot_tiny_fixture.json")).load(Kit())
    assert [list(item.gold["relevant"]) for item in loaded.items] == [["farm_story:0"], ["city_story:1"]]
    assert len(loaded.corpus) == 4
