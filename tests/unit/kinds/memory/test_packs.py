"""What the shipped packs make of a document: roles, edges and the reasons for them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.core.dataset import Corpus, Dataset, Place
from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.core.records import Item, Passage
from assay.kinds.memory.systems.graph import AGAINST, MemoryGraph
from assay.kinds.memory.systems.packs import (
    ExampleContractPack,
    OwnRules,
    PackGraph,
    build_graph,
    gold_warnings,
    pack_problems,
)


def units(pack: str, texts: Sequence[str], section: str = "One", stem: str = "d") -> list[Passage]:
    return [
        Passage(f"{stem}:{number}", text, source=stem, section=section, metadata={"pack": pack})
        for number, text in enumerate(texts, 1)
    ]


def drawn(passages: Sequence[Passage]) -> MemoryGraph:
    return build_graph(Corpus(passages), None, Kit())


def edges(graph: MemoryGraph) -> set[tuple[str, str, str]]:
    name = [node_id.partition(":")[2] for node_id in graph.node_ids]
    return {(name[link.source], link.kind, name[link.target]) for link in graph.links}


LEASE = [
    "Tenant shall return the van by noon on Friday.",
    "Unless the depot is closed, Tenant shall return the van by noon on Friday.",
    "If the van comes back damaged, Owner may withhold the deposit.",
    "After Owner withholds the deposit, Tenant may ask for a damage report under clause 3.",
]


def test_clauses_get_roles_edges_and_reasons() -> None:
    graph = drawn(units("example_contract_pack", LEASE))
    assert list(graph.traits.roles) == ["obligation", "exception", "remedy", "remedy"]
    assert edges(graph) == {
        ("1", "next_unit", "2"),
        ("2", "next_unit", "3"),
        ("3", "next_unit", "4"),
        ("2", "exception_to", "1"),
        # 4 shares owner, withhold, deposit, damage with 3, and only tenant with 1 and 2
        ("4", "depends_on", "3"),
        ("4", "refers_to", "3"),
    }
    reasons = {link.kind: link.rule for link in graph.links}
    assert reasons["exception_to"] == "'unless', and 5 content words shared"
    assert reasons["refers_to"] == "names 'clause 3'"


def test_a_word_inside_another_decides_nothing() -> None:
    graph = drawn(
        units("example_contract_pack", ["Buyer pays the courier fee.", "Notify the courier of the fee."])
    )
    assert {kind for _, kind, _ in edges(graph)} == {
        "next_unit"
    }  # "notify" holds "if", but is not a condition


def test_only_what_is_shared_most_is_depended_on() -> None:
    texts = [
        "The pump feeds the north tank.",
        "Check the north tank valve pressure gauge.",
        "If the north tank valve pressure gauge is red, close the pump.",
    ]
    # 3 shares north, tank, valve, pressure, gauge with 2, and pump, north, tank with 1: more than half
    assert ("3", "depends_on", "1") in edges(drawn(units("example_runbook_pack", texts)))
    texts[0] = "The feed goes to the north tank."  # now north and tank: 2 is not more than half of 5
    assert ("3", "depends_on", "1") not in edges(drawn(units("example_runbook_pack", texts)))


def test_what_a_unit_names_by_number_comes_before_what_it_shares_words_with() -> None:
    texts = [
        "Reload the proxy of the active host at night.",
        "Install the new certificate on the active proxy host.",
        "Notwithstanding step 1, install the new certificate on the active proxy host at noon.",
    ]
    found = edges(drawn(units("example_runbook_pack", texts)))
    assert {each for each in found if each[1] in ("exception_to", "refers_to")} == {
        ("3", "exception_to", "1"),
        ("3", "refers_to", "1"),
    }


def test_numbers_and_negations_that_differ_contradict() -> None:
    texts = [
        "Supplier shall answer urgent support tickets within 4 hours.",
        "Supplier shall answer urgent support tickets within 8 hours.",
        "Supplier shall not answer urgent support tickets by phone.",
    ]
    graph = drawn(units("example_contract_pack", texts))
    assert {each for each in edges(graph) if each[1] == "contradicts"} == {
        ("2", "contradicts", "1"),
        ("3", "contradicts", "1"),
        ("3", "contradicts", "2"),
    }
    said = [link.rule for link in graph.links if link.kind == "contradicts"]
    assert said[0] == "says 8 where the other says 4 (hour)"
    assert said[1] == "only one of the two says 'not'"


def test_two_cases_of_one_question_and_unlike_numbers_do_not_contradict() -> None:
    texts = [
        "If the mountain warden answers the night phone, wait.",
        "If the mountain warden does not answer the night phone, sound the horn.",
        "The old hall closes its heavy doors at 23:00.",
        "The old hall has 120 chairs behind its heavy doors.",
    ]
    graph = drawn(units("example_runbook_pack", texts))
    assert "contradicts" not in graph.kinds


def test_an_addendum_is_read_after_what_it_amends() -> None:
    main = units("example_contract_pack", ["Tenant shall return all keys within 10 days."], stem="lease")
    more = units(
        "example_contract_pack", ["Tenant shall return all keys within 5 days."], stem="lease_addendum"
    )
    other = units("example_contract_pack", ["Tenant shall return all keys within 3 days."], stem="shed")
    graph = drawn([*more, *main, *other])
    ids = {(graph.node_ids[link.source], link.kind, graph.node_ids[link.target]) for link in graph.links}
    assert ids == {("lease_addendum:1", "contradicts", "lease:1")}


def test_neighbours_of_different_sections_are_not_linked_unless_they_are_sessions() -> None:
    first, second = units("example_runbook_pack", ["Open the lid.", "Drain the oil."])
    other = Passage("d:3", "Paint the fence.", source="d", section="Two", metadata=second.metadata)
    assert edges(drawn([first, second, other])) == {("1", "next_unit", "2")}
    talk = [
        Passage(each.doc_id, each.text, source="d", section=each.section, metadata={"pack": "conversation"})
        for each in (first, second, other)
    ]
    assert edges(drawn(talk)) == {("1", "next_unit", "2"), ("2", "next_session", "3")}


def test_documents_are_not_linked_but_by_name() -> None:
    one = [
        Passage("a:0", "Ada Stone wrote Tidewater.", "Ada Stone", "a", metadata={"pack": "sentence_links"})
    ]
    two = [
        Passage(
            "b:0",
            "Tidewater is a novel about Orrin Vale.",
            "Tidewater",
            "b",
            metadata={"pack": "sentence_links"},
        ),
        Passage("b:1", "Orrin Vale is a port.", "Tidewater", "b", metadata={"pack": "sentence_links"}),
    ]
    three = [
        Passage("c:0", "The port of Orrin Vale burned.", "Harbour", "c", metadata={"pack": "sentence_links"})
    ]
    graph = drawn([*one, *two, *three])
    kinds = {(graph.node_ids[x.source], x.kind, graph.node_ids[x.target]) for x in graph.links}
    assert kinds == {
        ("b:0", "next_unit", "b:1"),
        ("a:0", "mentions", "b:0"),  # its text has the title
        ("b:0", "shares_name", "c:0"),
        ("b:1", "shares_name", "c:0"),
    }
    chain = [
        Passage(x.doc_id, x.text, x.title, x.source, metadata={"pack": "sentence_chain"})
        for x in (*one, *two, *three)
    ]
    assert [link.kind for link in drawn(chain).links] == ["next_unit"]


def test_an_edge_is_walked_both_ways_and_carries_less_against_its_direction() -> None:
    graph = drawn(units("example_contract_pack", LEASE))
    there = {
        (graph.node_ids[start], graph.kinds[kind], graph.node_ids[target]): weight
        for start, kind, target, weight in zip(
            graph.start, graph.kind, graph.target, graph.weight, strict=True
        )
    }
    assert there["d:4", "depends_on", "d:3"] == 0.7
    assert there["d:3", "depends_on", "d:4"] == pytest.approx(0.7 * AGAINST)
    assert there["d:1", "exception_to", "d:2"] == there["d:2", "exception_to", "d:1"] == 0.7


def test_an_unknown_pack_is_named() -> None:
    passages = units("exmple_contract_pack", ["Pay."])
    meant = "Did you mean 'example_contract_pack' or 'example_runbook_pack'? Or give the system a pack."
    unknown = f"'d' has the domain pack 'exmple_contract_pack', which is unknown. {meant}"
    (problem,) = pack_problems(passages, None, (), Kit())
    assert str(problem) == f"d: {unknown}"
    (problem,) = pack_problems(passages, None, (), Kit(), {"d": Place("cases.json", 4)})
    assert str(problem) == f"cases.json:4: domain_pack_name: {unknown}"


def test_a_pack_that_needs_parameters_or_is_not_a_name_cannot_be_used() -> None:
    (problem,) = pack_problems(units("rules", ["Pay."]), None, (), Kit())
    assert "'rules', which cannot be used. " in str(problem)
    (problem,) = pack_problems(units("(", ["Pay."]), None, (), Kit())
    assert "'(', which is unknown. " in str(problem)


def test_a_pack_knows_its_roles() -> None:
    assert {"obligation", "exception", "remedy"} <= ExampleContractPack().roles(Kit())
    assert {*drawn(units("example_contract_pack", LEASE)).traits.roles} <= ExampleContractPack().roles(Kit())


def asking(*golds: dict[str, Any], pack: str = "example_contract_pack") -> Dataset:
    """Items that ask for some walk through a lease."""
    passages = units(pack, LEASE)
    scope = [passage.doc_id for passage in passages]
    items = [Item(f"c{n}", "?", gold=gold, scope=scope) for n, gold in enumerate(golds, 1)]
    return Dataset("leases", Corpus(passages), items, places={"c1": Place("cases.json", 9)})


def test_words_that_no_pack_gives_are_warned_of_once_each() -> None:
    steps = [{"node_id": "d:1", "via_edge_type": None}, {"node_id": "d:2", "via_edge_type": "excepton_to"}]
    spread = {"steps": [{"node_id": "d:1", "edge_type": "next_unti", "stopped_reason": "below_treshold"}]}
    slips: dict[str, Any] = {
        "required_semantic_roles": ["exeption", "remedy"],
        "required_edge_types": ["dependson", "depends_on"],
        "required_trace_stop_reasons": ["node_limits", "node_limit"],
        "path": {"match_mode": "exact", "steps": steps},
        "activation_trace": spread,
    }
    found = gold_warnings(asking(slips, slips), None, Kit())
    assert [each.partition("c1, c2 ask for the ")[2].partition(", which")[0] for each in found] == [
        "role 'exeption'",
        "edge type 'dependson'",
        "edge type 'excepton_to'",
        "edge type 'next_unti'",
        "stop reason 'node_limits'",
        "stop reason 'below_treshold'",
    ]
    assert all(each.startswith("cases.json:9: ") for each in found)
    assert "which no pack of the documents gives. Did you mean 'exception' or" in found[0]
    assert found[-1].endswith("which no graph memory writes. Did you mean 'below_threshold'?")


def test_words_that_some_pack_gives_are_not_warned_of(tmp_path: Path) -> None:
    stops = ["below_threshold", "disallowed_edge", "node_limit", "weaker_edge"]
    sound = {"required_semantic_roles": ["exception"], "required_trace_stop_reasons": stops}
    assert gold_warnings(asking(sound, {}, {"relevant": {"d:1": 1.0}}), None, Kit()) == []
    (tmp_path / "my.yaml").write_text("otherwise: note\nroles: [{role: alarm, words: [alarm*]}]\n")
    own, kit = OwnRules("my.yaml"), Kit(root=tmp_path)
    assert gold_warnings(asking({"required_semantic_roles": ["alarm", "note"]}), own, kit) == []
    assert len(gold_warnings(asking(sound), own, kit)) == 1  # the role: that pack takes the others' place


def test_packs_that_cannot_be_had_or_do_not_tell_are_not_warned_of() -> None:
    class Silent:
        def draw(self, passages: Sequence[Passage], kit: Kit) -> PackGraph:
            raise AssertionError

        def edges(self, kit: Kit) -> frozenset[str]:
            return frozenset({"next"})

    wanted = {"required_semantic_roles": ["exeption"], "required_edge_types": ["nxt"]}
    assert gold_warnings(asking(wanted, pack="no_such_pack"), None, Kit()) == []
    (warning,) = gold_warnings(asking(wanted), Silent(), Kit())
    assert "c1 asks for the edge type 'nxt'" in warning


def test_a_pack_of_ones_own_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text(
        "otherwise: note\nroles: [{role: alarm, words: [alarm*]}]\n"
        "links: [{edge: silences, words: [mute], shared: 1}]\n"
    )
    passages = units("", ["The siren alarms at noon.", "Mute the siren."])
    graph = build_graph(Corpus(passages), OwnRules("my.yaml"), Kit(root=tmp_path))
    assert list(graph.traits.roles) == ["alarm", "note"]
    assert edges(graph) == {("1", "next_unit", "2"), ("2", "silences", "1")}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("roles: []\n", "otherwise"),
        ("otherwise: note\nlinks: [{edge: x, words: [a], shared: 0}]\n", "shared"),
        ("otherwise: note\nbonus: 3\n", "bonus"),
    ],
)
def test_a_pack_that_is_wrong_says_where(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "my.yaml").write_text(text)
    with pytest.raises(DataError, match=said):
        OwnRules("my.yaml").draw(units("", ["Pay."]), Kit(root=tmp_path))
