"""Small files in every format that a plugin reads, as their makers publish them, in one folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from safetensors.numpy import save_file

from assay.core.records import Item, Passage
from assay.kinds.hierarchy.features import NAMES, VERSION
from assay.kinds.hierarchy.fitted import (
    DETECTOR_FORMAT,
    Detector,
    DetectorOrigin,
    FeatureScale,
    KindModel,
    encode_fitted,
)
from small_benchmark import write_benchmark
from small_golden import write_golden
from small_study import write_lines
from tiny_bert import CONFIG, WORDS, make_weights, write_model

TEXTS = {
    "d1": "the quick brown fox jumps over the lazy dog",
    "d2": "a fox and a dog went to market",
    "d3": "größe, 検索, поиск and naïve cafés",
    "d4": "the market closes at five",
}
ITEMS = [
    Item("q1", "brown fox", gold={"relevant": {"d1": 2, "d2": 1}}, tags={"topic": ["animals"]}),
    Item("q2", "market", gold={"relevant": {"d4": 1}}),
    Item("q3", "検索 größe", gold={"relevant": {"d3": 1}}, language="ja"),
    Item("q4", "nothing of the kind", expects="nothing"),
    Item("q5", "lazy", gold={"relevant": {"d1": 1}}),
]
PASSAGES = [Passage(doc_id, text) for doc_id, text in TEXTS.items()]

POSITIONS = "embeddings.position_embeddings.weight"

KILN = "Kilns are fired twice a week, and cones are read by two people."
FOX = ["The fox lives in the wood.", "It was named by Ada Finch."]
FINCH = ["Ada Finch was an engineer.", "She was born in Tollen."]
HANDBOOK = """# Sick leave

Teammates can take up to 30 days of sick leave in a year.

## How do I report an absence to my lead?

Write to your lead before ten in the morning and name the day on which you will be back.
"""
NOTES = "# v1.2.1\n\n## Changes\n\n- Fixed the pump.\n\n# v1.2.0\n\nRead this first.\n"
LETTER = """From: Ann Lee <ann@example.org>
Date: Fri, 23 Aug 2002 09:00:00 +0000
Subject: New window
Message-Id: <one@example.org>

The café is open at ten.
"""
SAFENET = """\
"SAFENET ID", "Iteration", "Event Start Date", "Incident Name", "Event State", "Event Jurisdiction", \
"Event Local Unit", "Event Position Title", "Event Task", "Event Resources", "Event Incident Type", \
"Event Incident Activity", "Event Incident Stage", "Contributing Factors", "Human Factors", \
"Other Factors", "Narrative", "Immediate Action Taken"
"AAA","1","06/30/2005 14:00","EAST RIM FIRE","AZ","BLM","Strip","Engine Boss","Mop up","Engine",\
"Wildland;","Line;","Mop Up;","Equipment;","Fatigue;","","A pump leaked near camp.","We told everyone."
"""
SAFECOM = """\
Tracking #,Agency,Unit,Region,Location,Date,Mission Type,Type,Manufacturer,Model,Accident,Airspace,\
Hazard,Incident,Maintenance,Management,UAS,Narrative,Corrective Action
15-1,Forest Service (USFS),,Region 5,Elk Fire,8/1/2015,Recon,Helicopter,Bell,407,,,,,,,,\
A drone passed below us twice.,All flights were put on hold.
"""
RULES = """otherwise: statement
roles:
  - {role: obligation, words: [shall, must]}
  - {role: condition, words: [if, unless]}
links:
  - {edge: depends_on, words: [if, unless]}
"""


def write_samples(root: Path) -> Path:
    """All of the files; the folder that they lie in."""
    root.mkdir(parents=True, exist_ok=True)
    _write_answers(root)
    _write_collections(root)
    _write_public(root)
    _write_kinds(root)
    _write_sources(root)
    _write_models(root)
    return root


# ------------------------------------------------------------- answers from elsewhere, and detectors


def _write_answers(root: Path) -> None:
    """What other systems answered to the items of the tiny dataset; q4 and q5 they did not find."""
    ranks = (1, 2, 3)
    lines = [f"{item.item_id} Q0 d{rank} {rank} {5 - rank} t\n" for item in ITEMS[:3] for rank in ranks]
    (root / "any.run").write_text("".join(lines))
    results = [
        {
            "query_id": item.item_id,
            "query_text": item.text,
            "retrieved_chunk_ids": ["d2", "d1"] if item in ITEMS[:3] else [],
        }
        for item in ITEMS
    ]
    (root / "imported.json").write_text(json.dumps({"model_name": "m", "query_results": results}))
    walk = [
        {"kind": "path", "depth": 0, "target": "d1"},
        {"kind": "path", "depth": 1, "source": "d1", "target": "d2", "edge": "about"},
    ]
    write_lines(root / "traced.jsonl", [{"item_id": item.item_id, "trace": walk} for item in ITEMS])
    rows = [
        {"question_id": item.item_id, "model_id": "m", "condition": "A", "response": f"On {item.text}."}
        for item in ITEMS
    ]
    write_lines(root / "responses.jsonl", rows)

    zero = dict.fromkeys(NAMES, 0.0)
    kinds = {"aggregation": KindModel(0.5, 1.0, -5.0, zero | {"enumerating": 10.0})}
    origin = DetectorOrigin("tiny", "", "", "any", {}, "", {}, {})
    detector = Detector(DETECTOR_FORMAT, VERSION, origin, dict.fromkeys(NAMES, FeatureScale(0.0, 1.0)), kinds)
    (root / "detector.json").write_bytes(encode_fitted(detector))


# ---------------------------------------------------------------------------- general collections


def _write_collections(root: Path) -> None:
    """The tiny dataset as a folder of ours, in the BEIR layout and in TREC form."""
    (root / "folder").mkdir()
    write_lines(
        root / "folder/passages.jsonl", [{"doc_id": key, "text": text} for key, text in TEXTS.items()]
    )
    records = [{key: value for key, value in msgspec.to_builtins(each).items() if value} for each in ITEMS]
    write_lines(root / "folder/items.jsonl", records)

    (root / "beir/qrels").mkdir(parents=True)
    write_lines(root / "beir/corpus.jsonl", [{"_id": key, "text": text} for key, text in TEXTS.items()])
    write_lines(root / "beir/queries.jsonl", [{"_id": each.item_id, "text": each.text} for each in ITEMS])
    judged = [(each.item_id, *pair) for each in ITEMS for pair in each.gold.get("relevant", {}).items()]
    rows = "".join(f"{item_id}\t{doc_id}\t{grade}\n" for item_id, doc_id, grade in judged)
    (root / "beir/qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")

    (root / "topics.tsv").write_text("".join(f"{each.item_id}\t{each.text}\n" for each in ITEMS))
    (root / "qrels.txt").write_text("".join(f"{item} 0 {doc} {grade}\n" for item, doc, grade in judged))


# ------------------------------------------------------------------------------ public benchmarks


def _write_public(root: Path) -> None:
    """Benchmarks of several hops and of long conversations, one or two questions each."""
    context = [["The fox", FOX], ["Ada Finch", FINCH]]
    question = "Where was the one born who named the fox?"
    facts = [["The fox", 1], ["Ada Finch", 1]]
    hop = {"_id": "h1", "question": question, "answer": "Tollen", "type": "bridge", "level": "hard"}
    hop |= {"context": context, "supporting_facts": facts}
    _dump(root / "hotpotqa.json", [hop])
    _dump(root / "twowiki.json", [hop | {"type": "compositional"}])
    claim = {"uid": "c1", "claim": "The fox was named in Tollen.", "label": "NOT_SUPPORTED", "num_hops": 2}
    _dump(root / "hover.json", [{**claim, "context": context, "supporting_facts": facts}])

    paragraphs = [
        {"idx": 0, "title": "The fox", "paragraph_text": " ".join(FOX), "is_supporting": True},
        {"idx": 1, "title": "Ada Finch", "paragraph_text": " ".join(FINCH), "is_supporting": True},
        {"idx": 2, "title": "Tollen", "paragraph_text": "Tollen is a town.", "is_supporting": False},
    ]
    asked = {"id": "2hop__1_2", "question": question, "paragraphs": paragraphs, "answer": "Tollen"}
    unanswerable = {**asked, "answerable": False}
    write_lines(root / "musique.jsonl", [{**asked, "answerable": True}, unanswerable])

    turns = [
        {"speaker": "Nadia", "dia_id": "D1:1", "text": "I signed the lease yesterday!"},
        {"speaker": "Elias", "dia_id": "D1:2", "text": "At last. My brother Leo repairs ovens."},
    ]
    conversation = {
        "speaker_a": "Nadia",
        "speaker_b": "Elias",
        "session_1_date_time": "6:20 pm on 3 May, 2024",
        "session_1": turns,
    }
    qa = {"question": "Who repairs ovens?", "answer": "Leo", "evidence": ["D1:2"], "category": 4}
    _dump(root / "locomo.json", [{"sample_id": "conv-1", "conversation": conversation, "qa": [qa]}])

    remembered = {
        "question_id": "m1",
        "question_type": "single-session-user",
        "question": "Where is the key?",
        "answer": "In the jar",
        "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_session_ids": ["early", "late"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/30 (Tue) 09:15"],
        "haystack_sessions": [
            [{"role": "user", "content": "Good morning."}, {"role": "assistant", "content": "Hello."}],
            [{"role": "user", "content": "The key is in the jar.", "has_answer": True}],
        ],
        "answer_session_ids": ["late"],
    }
    _dump(root / "longmemeval.json", [remembered])


# -------------------------------------------------------------------------- formats of our own kinds


def _write_kinds(root: Path) -> None:
    """Golden sets of books, sectioned reports, cases over numbered units, and an answer study."""
    write_golden(root / "golden")
    write_benchmark(root / "sectioned")

    (root / "leases").mkdir()
    (root / "leases/lease.md").write_text("# Lease\n## Rent\n1 Tenant pays.\n2 Landlord waits.\n")
    wanted = {"evidence_node_ids": ["lease:2"], "minimum_evidence_matches": 1}
    cases = [{"case_id": "c1", "query": "Who waits?", "tags": ["contract"], "expectation": wanted}]
    header = {"dataset_id": "leases-v1", "domain_pack_name": "example_contract_pack"}
    _dump(root / "cases.json", {**header, "document_directory": "leases", "cases": cases})
    (root / "pack.yaml").write_text(RULES)

    study = root / "answer_study"
    (study / "pages").mkdir(parents=True)
    (study / "pages/a.html").write_text(f"<main><p>{KILN}</p></main>")
    (study / "pages/b.md").write_text(f"# Kilns\n\n{KILN}\n")
    urls = ["https://kiln.example/a"]
    asked = {"question_id": "S001-Q01", "text": "How often is it fired?", "complexity": "single-fact"}
    asked |= {"source_sections": ["Firing"], "source_urls": urls}
    gold = {"question_id": "S001-Q01", "gold_answer": "Twice a week.", "source_urls": urls}
    site = {"site_id": "S001", "domain": "kiln.example"}
    _dump(study / "questions.json", [{**site, "questions": [asked]}])
    _dump(study / "gold-answers.json", [{**site, "answers": [{**gold, "verified_date": "2026-02-25"}]}])
    pair = {"content_pair_id": "S001-P01", "site_id": "S001", "question_ids": ["S001-Q01"]}
    _dump(study / "content-pairs.json", [{**pair, "a": "pages/a.html", "b": "pages/b.md", "title": "Firing"}])


# ----------------------------------------------------------------------------------- real texts


def _write_sources(root: Path) -> None:
    """A handbook, release notes, a mailbox and safety reports."""
    for folder in ("handbook", "changelog", "mail", "reports"):
        (root / folder).mkdir()
    (root / "handbook/leave.md").write_text(HANDBOOK)
    (root / "changelog/CHANGELOG-1.2.md").write_text(NOTES)
    (root / "mail/one.eml").write_text(LETTER, encoding="utf-8")
    (root / "reports/SAFENET_2005.csv").write_text(SAFENET)
    (root / "reports/SAFECOM_UAS_fire_data.csv").write_text(SAFECOM)
    lessons = {
        "Driving_Event": {"Driving Event": "A clamp fell sixteen floors."},
        "Lessons_Learned": {"Lesson(s) Learned": "Tether it."},
        "Recommendations": {"Recommendation(s)": "Tether tools used at height."},
    }
    for name, lesson in lessons.items():
        write_lines(root / f"reports/LLIS_{name}.jsonl", [{**lesson, "Lesson ID": 58}])


# ------------------------------------------------------------------------------------- models


def _write_models(root: Path) -> None:
    """A BERT of two layers with weights and a tokenizer, and one that takes texts as long as MiniLM does."""
    folder = write_model(root / "bert")
    sizes = {"vocab_size": len(WORDS), "intermediate_size": 20, "type_vocab_size": 2}
    _dump(folder / "config.json", {**CONFIG, **sizes, "architectures": ["BertModel"]})
    special = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 16, **special}
    _dump(folder / "tokenizer_config.json", settings)

    folder = write_model(root / "minilm")
    weights = make_weights()
    weights[POSITIONS] = np.tile(weights[POSITIONS], (16, 1))  # 16 of 16
    save_file(weights, folder / "model.safetensors")
    _dump(folder / "config.json", {**CONFIG, "max_position_embeddings": 256})


def _dump(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content))
