"""How to decide: guidance for each pass, worked examples, and the precedents that come with the rubric."""

from __future__ import annotations

from dataclasses import dataclass

from assay.kinds.answers.scoring.rubric import ACCURACY, CITATION, COMPLETENESS, HALLUCINATION

SINGLE, SYNTHESIS, RELATION = "single-fact", "multi-section-synthesis", "conceptual-relationship"


@dataclass(frozen=True)
class Guidance:
    """One rule. If it has a complexity, it is for questions of that complexity."""

    title: str
    text: str
    complexity: str = ""


GUIDANCE = {
    ACCURACY: (
        Guidance(
            "Right, but a part is missing",
            "Never 3: the whole question counts. 1 or 2, by how much of it is answered. What you mark 3 and "
            "later call incomplete comes back to you.",
        ),
        Guidance(
            "Right, with made-up additions",
            "At most 2: readers cannot tell which part to believe. The additions are counted in the next "
            "pass; what you marked 3 and then find such a claim in comes back to you.",
        ),
        Guidance(
            "Right, from a wrong source",
            "Grade the facts as if no source were named. The wrong source is counted in the next pass "
            "(H-SRC), and does not lower this grade.",
        ),
        Guidance(
            "It refuses",
            "0, and set the flag. The model had the content; not getting the answer out of it is a failure.",
        ),
        Guidance(
            "It would fit any site",
            "1 where the answer is so general that it shows nothing of the content that was given.",
        ),
        Guidance(
            "The complexity changes no grade",
            "It says where to look. Questions that are harder are not graded more kindly.",
        ),
        Guidance(
            "Questions of one fact",
            "2 or 3 is a matter of precision: does it give the very name, value or term of the reference? A "
            "name that is the answer and is missing makes it 1.",
            SINGLE,
        ),
        Guidance(
            "Questions across sections",
            "1 or 2 is a matter of coverage: one section answered perfectly and another ignored is 1, as "
            "nothing was brought together. 2 or 3: does it show how they connect, or only list facts of "
            "each?",
            SYNTHESIS,
        ),
        Guidance(
            "Questions about a relationship",
            "1 or 2: does it state the relationship, or does it only describe both things? Without it, never "
            "3. 2 or 3: are these the trade-offs, dependencies or differences that the reference names?",
            RELATION,
        ),
    ),
    HALLUCINATION: (
        Guidance(
            "What a claim is",
            "A statement of fact that could be checked. Opinions, cautious phrases by themselves and remarks "
            "about the answer itself are not claims.",
        ),
        Guidance("Each claim counts", "Three invented facts in one sentence are three claims: mark three."),
        Guidance(
            "The same claim counts once",
            "However often the response repeats it. Mark where it is said first.",
        ),
        Guidance("Size does not matter", "A small invention counts as much as a large one: one claim."),
        Guidance(
            "A hedge does not help",
            "“Probably supports …” counts all the same where the source says nothing of it.",
        ),
        Guidance(
            "Fair conclusions are not claims",
            "What any careful reader would conclude from the source is supported. Write doubtful cases into "
            "the note.",
        ),
        Guidance("One category each", "Take the one that fits best. A refusal claims nothing."),
    ),
    COMPLETENESS: (
        Guidance(
            "Several parts",
            "0 as soon as one of them gets no answer at all. A partial or a wrong answer to a part still "
            "deals with it.",
        ),
        Guidance(
            "“I do not know” to one part",
            "0: the part was seen, and not answered. A refusal as a whole is 0 too.",
        ),
        Guidance("Beside the point", "0 where much is said and the question itself is not met."),
        Guidance(
            "Questions of one fact",
            "Nearly always 1. 0 where the response is about the subject and never states the fact asked for.",
            SINGLE,
        ),
        Guidance(
            "Questions across sections",
            "Something of every source section that the question names has to be there.",
            SYNTHESIS,
        ),
        Guidance(
            "Questions about a relationship",
            "The relationship is what was asked for: two descriptions side by side, and no comparison, are "
            "0.",
            RELATION,
        ),
    ),
    CITATION: (
        Guidance(
            "When it applies",
            "Yes: the question asks for a source (“according to …”, “what does the … guide say”). Yes: the "
            "response names sections or pages of its own accord. No: neither; choose not applicable, never "
            "0.",
        ),
        Guidance("One wrong reference", "1, however many others are right."),
        Guidance(
            "Too vague to check",
            "“According to the documentation” names no place. Where the question asked for one, that is 0.",
        ),
    ),
}


def guidance_on(step: str, complexity: str) -> str:
    """The guidance for questions of one complexity in a pass; empty if there is none."""
    found = (each.text for each in GUIDANCE[step] if each.complexity == complexity)
    return " ".join(found) if complexity else ""


@dataclass(frozen=True)
class WorkedExample:
    """A question with its reference answer, and one response per grade of accuracy with the reason."""

    complexity: str
    question: str
    reference: str
    graded: tuple[tuple[str, str], ...]  # from 0 upwards

    @property
    def text(self) -> str:
        """The example in lines, the lowest grade first."""
        grades = [f"{grade}: “{said}” {why}" for grade, (said, why) in enumerate(self.graded)]
        return "\n".join([f"Question: {self.question}", f"Reference: {self.reference}", *grades])


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
                "The difference is stated; which is for what is not.",
            ),
            (
                "Large but quick to restore, snapshots fit short histories; small but slow, logs long ones.",
                "The trade-off of the reference.",
            ),
        ),
    ),
)


@dataclass(frozen=True)
class Precedent:
    """A ruling on an edge case that comes with the rubric."""

    case_id: str
    situation: str
    decision: str
    rationale: str
    steps: tuple[str, ...]


PRECEDENTS = (
    Precedent(
        "EC-01",
        "The response says more than the reference, and rightly: four features where the reference has two.",
        "Accuracy 3. What is right and in the source does not count as a hallucination.",
        "The reference says what must be there at least. Sources hold more than any reference repeats.",
        (ACCURACY, HALLUCINATION),
    ),
    Precedent(
        "EC-02",
        "It uses an older name for the same thing.",
        "Go by what is meant: 2 or 3, by the rest of the response.",
        "Comprehension is tested, not who knows the latest name. Sources often use both.",
        (ACCURACY,),
    ),
    Precedent(
        "EC-03",
        "The fact is right but is on another page than the reference gives.",
        "Grade accuracy as usual. No hallucination, unless a source was invented.",
        "Pages overlap, and a fact is a fact wherever it was read.",
        (ACCURACY, HALLUCINATION),
    ),
    Precedent(
        "EC-04",
        "A number is put in another way: a day for 24 hours, or roughly that.",
        "3 where the values are equal. 2 where it is vague and the exact value matters.",
        "The same value in other words costs nothing. Vagueness where one must be exact costs a little.",
        (ACCURACY,),
    ),
    Precedent(
        "EC-05",
        "It refuses, for want of information.",
        "Accuracy 0 with the flag, completeness 0, no hallucination.",
        "The content was there: the study asks whether it can be used, and it was not. Nothing was invented.",
        (ACCURACY, HALLUCINATION, COMPLETENESS),
    ),
    Precedent(
        "EC-06",
        "The right answer is somewhere in much text that has nothing to do with the question.",
        "Grade accuracy and completeness by the part that answers. Inventions in the rest count as claims.",
        "Ballast does not make an answer wrong; what is made up in it is made up all the same.",
        (ACCURACY, HALLUCINATION, COMPLETENESS),
    ),
    Precedent(
        "EC-07",
        "The site has changed since the reference was verified, and the response fits the site of today.",
        "Grade against the reference, and put the difference into the note. If it happens often, tell the "
        "person who runs the study, so that the reference can be renewed.",
        "The reference is frozen on purpose: a goal that moves would blur every comparison.",
        (ACCURACY,),
    ),
    Precedent(
        "EC-08",
        "It holds code, paths or settings.",
        "Grade what it claims, not whether the code would run. Code that shows the right thing helps, code "
        "that contradicts the reference lowers the grade.",
        "The study is about facts, not programming; but wrong code shows that something was misread.",
        (ACCURACY,),
    ),
    Precedent(
        "EC-09",
        "It answers another question than the one asked, perhaps correctly.",
        "Accuracy 0, completeness 0. What it says of the other question does not count as a hallucination.",
        "The question was misread. Nothing was invented, and completeness shows the misreading.",
        (ACCURACY, HALLUCINATION, COMPLETENESS),
    ),
    Precedent(
        "EC-10",
        "It says that the question takes something for granted that is not so, and it is right.",
        "3 where it goes on to say what is the case.",
        "Seeing a wrong premise is better reading, and a mistake in our question must not cost the response.",
        (ACCURACY,),
    ),
)
