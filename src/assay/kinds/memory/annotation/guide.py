"""The page that tells people how to label: a template, for a team to complete before it begins."""

from __future__ import annotations

GUIDE = """\
# Annotation guide

Complete the lines in brackets, keep it to one page, and change it only together with everybody who labels.

Documents: [which family, whose, which version]
Domain: [what the people who ask want to do with the answer]
People: [who labels, who decides where they differ]

## A case
- One question that somebody would ask at work, answered by these documents alone.
- Do not copy the wording of the unit. Do not ask for a unit by its number.
- `answer_short` is one sentence. It stays in the form: case files check what is found, not what is said.

## Before you label
- Label from the documents only. Do not look at a graph of them, a search result or a report of the program
  before both forms are finished: labels that follow the system under test cannot test it.

## Evidence
- Name the fewest units without which the answer could not be given; leave out what is merely related.
- Where an answer needs several units, name each of them.
- `minimum_evidence_matches`: empty means all of them. Write a smaller number where fewer are enough.
- Ids are DOCUMENT:NUMBER, as in candidates.csv, separated by semicolons: `msa:14; msa:15`.

## Path (often empty)
- Only where the way matters and there is one right way: next steps, a rule and what overrides it.
- `msa:15 > msa:14 via depends_on`; begin with `prefix:` or `exact:` where other steps may not come before
  or between. `path_scope`: `best_path` where the first path must be the one, else empty.

## Roles, edges, tensions (often empty)
- `required_semantic_roles`: exception; remedy; condition; escalation; obligation; step; [others]
- `required_edge_types`: depends_on; exception_to; contradicts; next_unit; [others]
- `required_contradiction_pairs`: two units that pull apart, `msa:2 / msa:3`, where the answer is wrong
  unless both are seen.

## Families
- direct: one unit answers. multi_hop: several are needed. exception: a rule and what lifts it.
- contradiction: two units in tension. hard_negative: worded like another unit, answered by a different one.
- sequence: ids with `prime-`, then `probe-`: primes stay in one region, the probe asks something else there.

## When you are done with a row
- `review_status`: approved, or rejected (say why in `review_notes`). Empty or draft: not finished.
- Do not look at each other's forms. Where you differ, somebody decides, and writes the reason down.

## Settled questions
- [date: question, decision, example]
"""
