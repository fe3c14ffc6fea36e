"""How to decide: rules of judging and counting, boundaries, examples; shown beside each pass's form."""

from __future__ import annotations

from dataclasses import dataclass

from assay.kinds.answers.scoring.rubric import ACCURACY, CITATION, COMPLETENESS, HALLUCINATION

SINGLE, SYNTHESIS, RELATION = "single-fact", "multi-section-synthesis", "conceptual-relationship"


@dataclass(frozen=True)
class Guidance:
    """One rule; those of a complexity are for questions of that complexity."""

    step: str
    title: str
    text: str
    complexity: str = ""


GUIDANCE = (
    Guidance(
        ACCURACY,
        "Right, but a part is missing",
        "Never 3: the whole question counts. 1 or 2, by how much of it is answered. What you mark 3 and "
        "later call incomplete comes back to you.",
    ),
    Guidance(
        ACCURACY,
        "Right, with made-up additions",
        "At most 2: readers cannot tell which part to believe. The additions are counted in the next pass; "
        "what you marked 3 and then find such a claim in comes back to you.",
    ),
    Guidance(
        ACCURACY,
        "Right, from a wrong source",
        "Grade the facts as if no source were named. The wrong source is counted in the next pass (H-SRC), "
        "and does not lower this grade.",
    ),
    Guidance(
        ACCURACY,
        "It refuses",
        "0, and set the flag. The model had the content; not getting the answer out of it is a failure.",
    ),
    Guidance(
        ACCURACY,
        "It would fit any site",
        "1 where the answer is so general that it shows nothing of the content that was given.",
    ),
    Guidance(
        ACCURACY,
        "Questions of one fact",
        "2 or 3 is a matter of precision: does it give the very name, value or term of the reference? A name "
        "that is the answer and is missing makes it 1.",
        SINGLE,
    ),
    Guidance(
        ACCURACY,
        "Questions across sections",
        "1 or 2 is a matter of coverage: one section answered perfectly and another ignored is 1, as nothing "
        "was brought together. 2 or 3: does it show how they connect, or only list facts of each?",
        SYNTHESIS,
    ),
    Guidance(
        ACCURACY,
        "Questions about a relationship",
        "1 or 2: is the relationship told, or are both things merely described? Without it, never 3. 2 or 3: "
        "are these the trade-offs, dependencies or differences that the reference names?",
        RELATION,
    ),
    Guidance(
        ACCURACY,
        "The complexity changes no grade",
        "It says where to look. Questions that are harder are not graded more kindly.",
    ),
    Guidance(
        HALLUCINATION,
        "What a claim is",
        "A statement of fact that could be checked. Opinions, cautious phrases by themselves and remarks "
        "about the answer itself are none.",
    ),
    Guidance(
        HALLUCINATION,
        "Each claim counts",
        "Three invented facts in one sentence are three claims: mark three.",
    ),
    Guidance(
        HALLUCINATION,
        "The same claim counts once",
        "However often the response repeats it. Mark where it is said first.",
    ),
    Guidance(
        HALLUCINATION, "Size does not matter", "A small invention counts as much as a large one: one claim."
    ),
    Guidance(
        HALLUCINATION,
        "A hedge does not help",
        "“Probably supports …” counts all the same where the source says nothing of it.",
    ),
    Guidance(
        HALLUCINATION,
        "Fair conclusions are none",
        "What any careful reader would conclude from the source is supported. Write doubtful cases into the "
        "note.",
    ),
    Guidance(
        HALLUCINATION,
        "One category each",
        "Take the one that fits best. A refusal claims nothing.",
    ),
    Guidance(
        COMPLETENESS,
        "Several parts",
        "0 as soon as one of them gets no answer at all. A partial or a wrong answer to a part still deals "
        "with it.",
    ),
    Guidance(
        COMPLETENESS,
        "“I do not know” to one part",
        "0: the part was seen, and not answered. A refusal as a whole is 0 too.",
    ),
    Guidance(COMPLETENESS, "Beside the point", "0 where much is said and the question itself is not met."),
    Guidance(
        COMPLETENESS,
        "Questions of one fact",
        "Nearly always 1. 0 where the response speaks about the subject and never states the fact asked for.",
        SINGLE,
    ),
    Guidance(
        COMPLETENESS,
        "Questions across sections",
        "Something of every source section that the question names has to be there.",
        SYNTHESIS,
    ),
    Guidance(
        COMPLETENESS,
        "Questions about a relationship",
        "The relationship is what was asked for: two descriptions side by side, and no comparison, are 0.",
        RELATION,
    ),
    Guidance(
        CITATION,
        "When it applies",
        "Yes: the question asks by a source (“according to …”, “what does the … guide say”). Yes: the "
        "response names sections or pages of its own accord. No: neither; choose not applicable, never 0.",
    ),
    Guidance(CITATION, "One wrong reference", "1, however many others are right."),
    Guidance(
        CITATION,
        "Too vague to check",
        "“According to the documentation” names no place. Where the question asked for one, that is 0.",
    ),
)


@dataclass(frozen=True)
class WorkedExample:
    """A question with its reference answer, and a response at every grade of accuracy with the reason."""

    complexity: str
    question: str
    reference: str
    graded: tuple[tuple[str, str], ...]  # from 0 upwards

    @property
    def text(self) -> str:
        """The example in lines, the lowest grade first."""
        told = [f"{grade}: “{said}” {why}" for grade, (said, why) in enumerate(self.graded)]
        return "\n".join([f"Question: {self.question}", f"Reference: {self.reference}", *told])


EXAMPLES = (
    WorkedExample(
        SINGLE,
        "Which format does the Pellwick exporter write?",
        "It writes Parquet files, compressed with Zstandard.",
        (
            ("It writes XML.", "Contradicts the reference."),
            ("It writes a columnar format.", "Not wrong, but the name that was asked for is missing."),
            ("It writes Parquet files.", "The name is there, a detail is not."),
            ("Parquet, with Zstandard compression.", "All of it, in other words."),
        ),
    ),
    WorkedExample(
        SYNTHESIS,
        "What does Pellwick do when an import fails, and who is told?",
        "The import is rolled back and tried twice more. After that the owner gets an e-mail with the failed "
        "rows.",
        (
            ("Failed imports are skipped, and nobody is told.", "Both parts are wrong."),
            (
                "A failed import is rolled back and tried twice more.",
                "One part perfectly, the other not at all: nothing was brought together.",
            ),
            (
                "It is rolled back and tried twice more. The owner gets an e-mail.",
                "Both parts, side by side; the rows are missing.",
            ),
            (
                "After a rollback and two more tries in vain, the owner gets an e-mail with the failed rows.",
                "Both parts, and how one leads to the other.",
            ),
        ),
    ),
    WorkedExample(
        RELATION,
        "How do snapshots and change logs differ, and which is for what?",
        "Snapshots restore fast and take much space, so they are for short histories. Change logs are small "
        "and restore slowly, so they are for long ones.",
        (
            ("Both are names of the nightly backup.", "Contradicts the reference."),
            (
                "A snapshot holds the whole state. A change log holds single edits.",
                "Both are described, and not compared.",
            ),
            (
                "Snapshots restore faster, change logs take less space: it depends on the case.",
                "The difference is told; which is for what is left open.",
            ),
            (
                "Large but quick to restore, snapshots fit short histories; small but slow, logs long ones.",
                "The trade-off of the reference.",
            ),
        ),
    ),
)


def guidance_for(step: str) -> list[Guidance]:
    """All rules of a pass, those of single complexities last."""
    return sorted((each for each in GUIDANCE if each.step == step), key=lambda each: bool(each.complexity))


def boundary_rule(step: str, complexity: str) -> str:
    """What a question of this complexity turns on in a pass; empty where nothing special does."""
    found = (each.text for each in GUIDANCE if each.step == step and each.complexity == complexity)
    return " ".join(found) if complexity else ""
