"""action.yml as a runner plays it, against a stand-in of GitHub; and what happens when GitHub has a bad day.

Where only the scripts of the action are tried, a script stands in for the program, which is slow to start.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.core.endpoint import Endpoint
from assay.report.github import marker
from assay.report.github_actions import ActionsJob, PullRequestComments, RequestDenied
from small_study import WORDS, assay, edited, write_study
from stand_ins.github_api import GitHubStandIn, Reply

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
EXAMPLE = yaml.safe_load((ROOT / "docs/examples/search-quality.yml").read_text())
TOKEN = "ghs-very-secret-0123456789"  # noqa: S105  of a stand-in
NUMBER = 7
PASSED = {"golden": 0, "run": 0, "report": 0, "Verdict": 0}
PLACE = f"/repos/octo/search/issues/{NUMBER}/comments"
MARK = marker("small")

# Old alone, held against what it was: it has every passage at rank 2, so that RR@5 is 1/2.
STUDY = edited("RR@5(lexical) >= RR@5(old) + 0.2", "RR@5(old) >= 0.2", edited("  lexical: bm25\n", ""))
UNDECIDED = edited('go: ["RR@5(old) >= 0.2"]', 'go: ["RR@5(old) >= 0.2"]\n    min_items: 99', STUDY)


def write_run(folder: Path, right: int) -> None:
    """A run file that has the right passage at rank 2 for the first items, and not at all for the others."""
    hits = [
        (n, rank, (n + 2 - rank) % len(WORDS) if n < right else (n + 4 + rank) % len(WORDS))
        for n in range(len(WORDS))
        for rank in (1, 2, 3)
    ]
    (folder / "old.run").write_text("".join(f"q{n} Q0 d{d} {rank} {10 - rank} old\n" for n, rank, d in hits))


# ------------------------------------------------------------------------------------- the player


@dataclasses.dataclass(frozen=True)
class Step:
    """What a step of the action left behind."""

    code: int
    out: str
    outputs: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Runner:
    """Plays the steps of action.yml in order, as a runner does, but for those that use another action."""

    workspace: Path
    server: GitHubStandIn
    event: Mapping[str, Any]
    programs: Path = Path(sys.executable).parent  # where `assay` is

    def play(self, **inputs: str) -> dict[str, Step]:
        """The steps that ran, by name; the first failure is the last step but for those that run always."""
        given = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()}
        given |= {"study": "small", "install": "none", "token": TOKEN} | {
            name.replace("_", "-"): value for name, value in inputs.items()
        }
        done: dict[str, Step] = {}
        (self.workspace / "summary.md").write_text("")
        for step in ACTION["runs"]["steps"]:
            failed = any(each.code for each in done.values())
            if "run" in step and self._wanted(step.get("if", "success()"), given, done, failed):
                done[step.get("id", step["name"])] = self._run(step, given, done)
        return done

    def _wanted(
        self, condition: str, inputs: Mapping[str, str], done: Mapping[str, Step], failed: bool
    ) -> bool:
        """As much of the language of conditions as the action uses."""
        if "always()" not in condition and failed:
            return False
        parts = [part for part in condition.split(" && ") if part not in {"always()", "success()"}]
        for part in parts:
            read = re.fullmatch(r"([\w.-]+) (==|!=) '([^']*)'", part)
            assert read is not None, f"the player cannot read {part}"
            name, sign, value = read.groups()
            if (self._value(name, inputs, done) == value) != (sign == "=="):
                return False
        return True

    def _value(self, name: str, inputs: Mapping[str, str], done: Mapping[str, Step]) -> str:
        match name.split("."):
            case ["inputs", word]:
                return inputs[word]
            case ["steps", step, "outputs", word]:
                return done[step].outputs.get(word, "") if step in done else ""
            case ["github", "action_path"]:
                return str(ROOT)
        raise KeyError(name)

    def _run(self, step: Mapping[str, Any], inputs: Mapping[str, str], done: Mapping[str, Step]) -> Step:
        assert step["shell"] == "bash"
        output, event = self.workspace / "output", self.workspace / "event.json"
        output.write_text("")
        event.write_text(json.dumps(self.event))
        env = {
            name: re.sub(r"\$\{\{ (.*?) \}\}", lambda found: self._value(found[1], inputs, done), str(value))
            for name, value in step.get("env", {}).items()
        }
        done_ = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.workspace,
            env={
                "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
                "HOME": str(self.workspace),
                "ASSAY_CACHE": os.environ["ASSAY_CACHE"],
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(self.workspace / "summary.md"),
                "GITHUB_EVENT_PATH": str(event),
                "GITHUB_API_URL": self.server.url,
                "GITHUB_REPOSITORY": "octo/search",
                "GITHUB_WORKSPACE": str(self.workspace),
                "GITHUB_SERVER_URL": "https://github.example",
                "GITHUB_RUN_ID": "99",
                **env,
            },
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        return Step(done_.returncode, done_.stdout + done_.stderr, read_outputs(output.read_text()))


def read_outputs(text: str) -> dict[str, str]:
    """NAME=VALUE lines, and values between two lines of the same."""
    found = {}
    for each in re.finditer(r"^([\w-]+)(?:=(.*)|<<(.+)\n((?:.*\n)*?)\3)$", text, re.MULTILINE):
        found[each[1]] = each[2] if each[3] is None else each[4].removesuffix("\n")
    return found


@pytest.fixture
def server() -> Iterator[GitHubStandIn]:
    with GitHubStandIn(TOKEN) as started:
        yield started


EVENT = {"pull_request": {"number": NUMBER, "head": {"sha": "abcdef0123456789abcdef"}}}


@pytest.fixture
def acted(tmp_path: Path, server: GitHubStandIn) -> Runner:
    """With a script for the program: it writes down what it is told, and ends as the study's name says."""
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin/assay"
    script.write_text(
        "#!/usr/bin/env bash\n"
        f'printf \'%s \' "$@" "token=${{GITHUB_TOKEN-}}" >>"{tmp_path}/told"; echo >>"{tmp_path}/told"\n'
        'if [ "$1" = run ]; then exit "$(basename -- "${!#}")"; fi\n'
        'case "$(basename -- "${!#}")" in 0) word=go ;; 10) word=no-go ;; 11) word=inconclusive ;; esac\n'
        'if [ "$1" = report ]; then printf "verdict=%s\\n" "$(cat stored 2>/dev/null || echo "${word-}")" '
        '>>"$GITHUB_OUTPUT"; fi\n'
        'if [ "$1" = golden ]; then exit "$(cat refuse-"$3" 2>/dev/null || echo 0)"; fi\n'
    )
    script.chmod(0o755)
    return Runner(tmp_path, server, EVENT, tmp_path / "bin")


@pytest.fixture
def runner(tmp_path: Path, server: GitHubStandIn) -> Runner:
    folder = write_study(tmp_path / "small", STUDY)
    write_run(folder, 12)
    assert assay("run", folder).code == 0
    assert assay("baseline", "tag", folder, "main").code == 0
    return Runner(tmp_path, server, EVENT)


def bodies(server: GitHubStandIn) -> list[str]:
    return [row["body"] for row in server.comments.get(PLACE, [])]


# ----------------------------------------------------------------------------- the action's scripts


def told(runner: Runner) -> list[str]:
    return [line.rstrip() for line in (runner.workspace / "told").read_text().splitlines()]


@pytest.mark.parametrize(
    ("code", "inconclusive", "ends", "says"),
    [
        (0, "warn", 0, "go\n"),
        (10, "warn", 10, "::error title=assay::No-go"),
        (11, "warn", 0, "::warning title=assay::Inconclusive"),
        (11, "fail", 11, "::error title=assay::Inconclusive"),
        (12, "warn", 12, "::error title=assay::The stored answers are older than the gates."),
        (3, "warn", 3, "::error title=assay::There is no verdict: assay ended with 3."),
        (1, "fail", 1, "::error title=assay::There is no verdict: assay ended with 1."),
        (0, "maybe", 2, "::error title=assay::The input inconclusive must be warn or fail."),
    ],
)
def test_how_the_job_ends(acted: Runner, code: int, inconclusive: str, ends: int, says: str) -> None:
    done = acted.play(study=str(code), inconclusive=inconclusive)
    assert (done["run"].code, done["run"].outputs["code"]) == (0, str(code))
    assert (done["Verdict"].code, says in done["Verdict"].out) == (ends, True)
    assert ("report" in done) == (code in {0, 10, 11, 12})  # without a verdict there is nothing to report


@pytest.mark.parametrize(
    ("code", "stored"),
    [(0, ""), (0, "inconclusive"), (0, "no-go"), (10, "go"), (10, ""), (11, "go"), (11, "")],
)
def test_an_exit_code_that_the_stored_answers_do_not_give_is_no_verdict(
    acted: Runner, code: int, stored: str
) -> None:
    (acted.workspace / "stored").write_text(stored)
    verdict = acted.play(study=str(code))["Verdict"]
    says = f"There is no verdict: assay ended with {code}, and the stored answers give {stored or 'none'}."
    assert (verdict.code, says in verdict.out) == (1, True)


def test_changed_gates_are_accepted_only_where_the_job_says_so(acted: Runner) -> None:
    acted.play(study="0", accept_changes="true")
    acted.play(study="0", accept_changes="yes")
    runs = [line for line in told(acted) if line.startswith("run ")]
    assert ["--accept-changes" in line for line in runs] == [True, False]


def test_a_job_that_never_ran_the_study_fails(acted: Runner) -> None:
    (acted.workspace / "bin/assay").unlink()
    bare = dataclasses.replace(acted, programs=acted.workspace)
    done = bare.play(golden="false")
    assert (done["run"].outputs["code"], done["Verdict"].code) == ("127", 127)
    done = bare.play()
    assert ("run" in done, done["Verdict"].code) == (False, 127)
    assert "The golden set could not be checked: assay ended with 127." in done["Verdict"].out


def test_inputs_are_options_and_never_scripts(acted: Runner) -> None:
    where = "topic=odd\n\nlanguage=$(touch hacked) *"
    acted.play(study="-x/0", where=where, against="main; touch hacked", comment="false")
    options = "--where topic=odd --where language=$(touch hacked) * --against main; touch hacked"
    assert told(acted) == [
        "golden check -- -x/0 token=",
        f"run --require-verdict {options} -- -x/0 token=",
        f"report {options} --format github --post -- -x/0 token=",
    ]
    assert not (acted.workspace / "hacked").exists()


def test_only_the_report_sees_the_token(acted: Runner) -> None:
    acted.play(study="0")
    assert [line.endswith(f"token={TOKEN}") for line in told(acted)] == [False, False, True]


@pytest.mark.parametrize(
    ("lock", "revision", "ends"),
    [
        (0, 0, 0),
        (3, 0, 3),  # refused
        (0, 3, 3),  # refused against the revision alone
        (0, 2, 2),  # no such revision: an error, never a silent pass
        (2, 0, 0),  # a study without a golden set
    ],
)
def test_a_refused_golden_set_ends_the_job_before_the_run(
    acted: Runner, lock: int, revision: int, ends: int
) -> None:
    (acted.workspace / "refuse---").write_text(str(lock))
    (acted.workspace / "refuse---against").write_text(str(revision))
    done = acted.play(study="0", golden_against="HEAD^1; touch hacked")
    commands = [line.partition(" -- ")[0] for line in told(acted)]
    checks = ["golden check", *(["golden check --against HEAD^1; touch hacked"] if lock == 0 else [])]
    assert commands == [
        *checks,
        *([] if ends else ["run --require-verdict", "report --format github --post"]),
    ]
    assert (done["golden"].code, done["golden"].outputs["code"]) == (ends, str(ends))
    assert done["Verdict"].code == ends
    assert ("::error title=assay::The golden set was refused" in done["Verdict"].out) == (ends == 3)
    assert not (acted.workspace / "hacked").exists()


def test_the_golden_set_may_go_unchecked(acted: Runner) -> None:
    (acted.workspace / "refuse---").write_text("3")
    done = acted.play(study="0", golden="false")
    assert ("golden" in done, done["Verdict"].code) == (False, 0)


@pytest.mark.parametrize(
    ("study", "folder"),
    [("a/study.yaml", "a/run"), ("a/study.en.yaml", "a/study.en.run"), ("b.yml", "./b.run"), ("c", "c/run")],
)
def test_the_folder_of_a_study_under_any_name(acted: Runner, study: str, folder: str) -> None:
    (acted.workspace / "a").mkdir()
    if "." in study:
        (acted.workspace / study).write_text("")
    assert acted.play(study=study)["run"].outputs["folder"] == folder


def test_what_a_study_prints_commands_nothing(acted: Runner) -> None:
    out = acted.play(study="0")["run"].out
    end = re.search(r"^::stop-commands::([0-9a-f]{32})$", out, re.MULTILINE)
    assert end is not None
    assert out.rstrip().endswith(f"\n::{end[1]}::")
    assert end[1] not in acted.play(study="0")["run"].out


# ------------------------------------------------------------------------------ the action as a whole


@pytest.mark.slow
def test_a_second_run_writes_the_one_comment_anew(runner: Runner) -> None:
    server = runner.server
    done = runner.play(against="main")
    assert {name: step.code for name, step in done.items()} == PASSED
    (first,) = server.comments[PLACE]
    assert first["body"].startswith(f"{MARK}\n## Go: `small`\n")
    assert "0 items worse, 0 better" in first["body"]
    run = "https://github.example/octo/search/actions/runs/99"
    assert first["body"].endswith(f"<sub>commit abcdef012345; [run and artifacts]({run})</sub>\n")
    assert done["report"].outputs == {
        "verdict": "go",
        "report": "small/run/report.github.md",
        "comment-url": first["html_url"],
    }
    assert done["run"].outputs == {"folder": "small/run", "code": "0", "decided": "true"}
    assert (runner.workspace / "summary.md").read_text() == first["body"]

    write_run(runner.workspace / "small", 4)  # eight of twelve are lost: p = 2 / 2^8 = 0.008
    done = runner.play(against="main")
    assert (done["run"].outputs["code"], done["report"].code, done["Verdict"].code) == ("10", 0, 10)
    (second,) = server.comments[PLACE]
    assert second["id"] == first["id"]
    assert second["body"].startswith(f"{MARK}\n## No-go: `small`\n")
    assert "8 items worse, 0 better" in second["body"]
    assert "<summary>Worse than <code>main</code>: 8</summary>" in second["body"]
    out = done["report"].out
    assert len(re.findall(r"^::error title=worse than main%3A q\d+::", out, re.MULTILINE)) == 8
    assert "::error file=small/study.yaml,line=9,title=against main%3A no-go::" in out
    assert not any(TOKEN in step.out for step in done.values())


@pytest.mark.slow
def test_an_inconclusive_study(runner: Runner) -> None:
    (runner.workspace / "small/study.yaml").write_text(UNDECIDED)
    shutil.rmtree(runner.workspace / "small/run")  # as in a fresh checkout
    done = runner.play()
    assert (done["run"].outputs["code"], done["Verdict"].code) == ("11", 0)
    (body,) = bodies(runner.server)
    assert body.startswith(f"{MARK}\n## Inconclusive: `small`\n")
    assert "::warning file=small/study.yaml,line=10,title=ship%3A inconclusive::" in done["report"].out


VANISHING = """
import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Vanishing:
    where: str = ""

    def build(self, corpus, seed, kit):
        return self

    def session(self):
        return self

    def answer(self, query, budgets):
        print('{"verdict": "go"}', flush=True)
        os._exit(0)
"""


def with_vanishing(runner: Runner) -> Runner:
    """With an installed system that prints a verdict and ends the process as if all were well."""
    place = runner.workspace / "installed"
    (place / "vanishing-1.0.dist-info").mkdir(parents=True)
    (place / "vanishing.py").write_text(VANISHING)
    (place / "vanishing-1.0.dist-info/METADATA").write_text("Name: vanishing\nVersion: 1.0\n")
    points = "[assay.systems]\nvanishing = vanishing:Vanishing\n"
    (place / "vanishing-1.0.dist-info/entry_points.txt").write_text(points)
    script = place / "bin/assay"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nPYTHONPATH={place} exec {runner.programs / "assay"} "$@"\n')
    script.chmod(0o755)
    return dataclasses.replace(runner, programs=script.parent)


@pytest.mark.slow
def test_a_system_that_ends_the_run_with_0_gives_no_verdict(runner: Runner) -> None:
    """Also where answers, figures and reports of an earlier run that ended in go are there."""
    (runner.workspace / "small/study.yaml").write_text(edited("replay(path=old.run)", "vanishing", STUDY))
    done = with_vanishing(runner).play()
    assert (done["run"].outputs["code"], '{"verdict": "go"}' in done["run"].out) == ("0", True)
    assert done["Verdict"].code != 0
    assert done["report"].outputs.get("verdict") != "go"


@pytest.mark.slow
def test_a_study_without_a_gate_that_decides_fails(runner: Runner) -> None:
    path = runner.workspace / "small/study.yaml"
    path.write_text(STUDY.partition("gates:")[0])
    done = runner.play()
    assert (done["run"].outputs["code"], done["Verdict"].code) == ("2", 2)
    assert "no gate decides, and --require-verdict asks for a verdict" in done["run"].out
    assert runner.play(against="main")["Verdict"].code == 0  # the baseline decides


@pytest.mark.slow
def test_a_gate_that_is_newer_than_the_answers_fails_the_job(runner: Runner) -> None:
    (runner.workspace / "small/study.yaml").write_text(edited(">= 0.2", ">= 0.1", STUDY))
    done = runner.play()
    assert (done["run"].outputs["code"], done["Verdict"].code) == ("12", 12)
    (body,) = bodies(runner.server)
    assert "was changed after the first answers were stored" in body
    assert runner.play(accept_changes="true")["Verdict"].code == 0


@pytest.mark.slow
def test_a_token_that_may_only_read_is_a_warning(runner: Runner) -> None:
    runner.server.writable = False  # as for a pull request from a fork
    done = runner.play(against="main")
    assert {name: step.code for name, step in done.items()} == PASSED
    assert bodies(runner.server) == []
    (line,) = [each for each in done["report"].out.splitlines() if each.startswith("::")]
    assert line.startswith("::warning title=assay could not comment::no comment: GitHub answers 403 ")
    assert "permissions: pull-requests: write" in line
    assert done["report"].outputs["comment-url"] == ""
    assert (runner.workspace / "summary.md").read_text().startswith(MARK)


@pytest.mark.slow
def test_a_part_of_the_study_and_no_comment(runner: Runner) -> None:
    done = runner.play(where="topic=odd", against="main", comment="false")
    assert {name: step.code for name, step in done.items()} == PASSED
    assert (bodies(runner.server), runner.server.asked) == ([], [])
    assert "no comment: GITHUB_TOKEN not set" in done["report"].out
    summary = (runner.workspace / "summary.md").read_text()
    assert "only a part of the study: topic=odd (6 items)" in summary
    assert re.search(r"\| `RR@5` \| 0\.500 \[.*?\] \| 6 \|", summary)


@pytest.mark.slow
def test_baselines_may_lie_elsewhere(runner: Runner) -> None:
    folder = runner.workspace / "small"
    (folder / "baselines").rename(runner.workspace / "kept")
    (folder / "study.yaml").write_text(STUDY + 'baselines: "${ASSAY_BASELINES:-baselines}"\n')
    done = runner.play(against="main")
    assert ("There is no baseline 'main'" in done["run"].out, done["Verdict"].code) == (True, 2)
    assert runner.play(against="main", baselines="../kept")["Verdict"].code == 0


def test_the_report_path_is_kept_with_the_run() -> None:
    (kept,) = [step for step in ACTION["runs"]["steps"] if "upload-artifact" in step.get("uses", "")]
    assert kept["if"].startswith("always()")
    ends = [line.rpartition("}}")[2] for line in kept["with"]["path"].split("\n") if line]
    assert ends == ["/eval", "/report.html", "/report.github.md"]


# --------------------------------------------------------------------------------- as it is written


def steps() -> Iterator[Mapping[str, Any]]:
    yield from ACTION["runs"]["steps"]
    for job in EXAMPLE["jobs"].values():
        yield from job["steps"]


def test_other_actions_are_pinned_and_scripts_hold_no_expressions() -> None:
    scripts = [step["run"] for step in steps() if "run" in step]
    assert len(scripts) > 4
    assert not [script for script in scripts if "${{" in script]
    for step in steps():
        if "uses" in step:
            assert re.search(r"@(v\d+(\.\d+){0,2}|[0-9a-f]{40})$", step["uses"]), step["uses"]
    assert all(step["run"].startswith("set -") for step in ACTION["runs"]["steps"] if "run" in step)


def test_the_example_uses_the_action_as_it_is() -> None:
    given = [step.get("with", {}) for step in steps() if "/assay@" in step.get("uses", "")]
    assert given
    for inputs in given:
        assert set(inputs) <= set(ACTION["inputs"])
        assert "study" in inputs
    trigger = EXAMPLE[True]  # YAML 1.1 reads `on` so
    assert trigger["pull_request"]["paths"] == trigger["push"]["paths"]
    assert EXAMPLE["permissions"] == {"contents": "read"}
    assert EXAMPLE["jobs"]["quality"]["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert "concurrency" in EXAMPLE


def test_every_input_is_in_the_guide() -> None:
    page = (ROOT / "docs/ci.md").read_text()
    for name in (*ACTION["inputs"], *ACTION["outputs"]):
        assert f"`{name}`" in page, name


# --------------------------------------------------------------------------------------- comments


def comments(
    server: GitHubStandIn, pauses: list[float] | None = None, token: str = TOKEN
) -> PullRequestComments:
    endpoint = Endpoint(server.url, token, retries=3, backoff=0.0)
    return PullRequestComments(endpoint, "octo/search", NUMBER, (pauses if pauses is not None else []).append)


def test_the_comment_is_found_on_any_page(server: GitHubStandIn) -> None:
    for place in range(250):
        server.add(PLACE, f"remark {place}")
    other = server.add(PLACE, f"{marker('other')}\nanother study")
    mine = server.add(PLACE, f"{MARK}\nold")
    server.add(PLACE, f"> {MARK}\nquoted")
    url = comments(server).put(f"{MARK}\nnew", MARK)
    assert url.endswith(f"#issuecomment-{mine}")
    rows = {row["id"]: row["body"] for row in server.comments[PLACE]}
    assert (rows[mine], rows[other], len(rows)) == (f"{MARK}\nnew", f"{marker('other')}\nanother study", 253)
    assert [method for method, _ in server.asked] == ["GET", "GET", "GET", "PATCH"]


def test_a_full_last_page_is_not_the_last(server: GitHubStandIn) -> None:
    for place in range(100):
        server.add(PLACE, f"remark {place}")
    comments(server).put(f"{MARK}\nnew", MARK)
    assert [method for method, _ in server.asked] == ["GET", "GET", "POST"]


def test_a_comment_that_is_not_ours_to_edit_is_passed_over(server: GitHubStandIn) -> None:
    person = {"login": "somebody", "type": "User"}
    stranger = server.add(PLACE, f"{MARK}\nplanted", person)  # who could change afterwards what we wrote
    locked = server.add(PLACE, f"{MARK}\nof another bot")
    server.foreign.add(locked)
    first = comments(server).put(f"{MARK}\none", MARK)
    assert comments(server).put(f"{MARK}\ntwo", MARK) == first
    rows = {row["id"]: row["body"] for row in server.comments[PLACE]}
    assert rows == {stranger: f"{MARK}\nplanted", locked: f"{MARK}\nof another bot", 3: f"{MARK}\ntwo"}


def test_a_member_with_a_token_of_their_own(server: GitHubStandIn) -> None:
    mine = server.add(PLACE, f"{MARK}\nold", {"login": "me", "type": "User"}, author_association="MEMBER")
    assert comments(server).put(f"{MARK}\nnew", MARK).endswith(f"-{mine}")


LIMITED = {"message": "You have exceeded a secondary rate limit."}


@pytest.mark.parametrize(
    ("fault", "least"),
    [
        (Reply(502, {"message": "Server Error"}), 0.0),
        (Reply(429, LIMITED, {"Retry-After": "7"}), 7.0),
        (Reply(403, LIMITED, {"Retry-After": "9"}), 9.0),
        (Reply(403, LIMITED), 60.0),
        (Reply(403, {"message": "API rate limit exceeded"}, {"X-RateLimit-Remaining": "0"}), 60.0),
        (Reply(200, b"<html>Sign in</html>"), 0.0),
        (Reply(200, {"not": "a list"}), 0.0),
    ],
)
def test_what_may_pass_is_tried_again(server: GitHubStandIn, fault: Reply, least: float) -> None:
    server.plan = [fault, fault]
    pauses: list[float] = []
    comments(server, pauses).put(f"{MARK}\nnew", MARK)
    assert bodies(server) == [f"{MARK}\nnew"]
    assert pauses == [least, least]


def test_an_answer_that_was_lost_leaves_no_second_comment(server: GitHubStandIn) -> None:
    def lose(method: str, path: str, payload: Any, given: str | None) -> Reply:
        reply = type(server).reply(server, method, path, payload, given)
        return Reply(502, {"message": "Bad Gateway"}) if method == "POST" else reply

    server.reply = lose  # type: ignore[method-assign]
    comments(server).put(f"{MARK}\nnew", MARK)
    assert bodies(server) == [f"{MARK}\nnew"]
    assert [method for method, _ in server.asked] == ["GET", "POST", "GET", "PATCH"]


def test_it_gives_up_and_says_why_without_the_token(server: GitHubStandIn) -> None:
    server.plan = [Reply(503, {"message": f"no {TOKEN} today"})] * 9
    with pytest.raises(
        RequestDenied, match=r"nothing of use in 4 attempts: 503 Service Unavailable: no … today"
    ):
        comments(server).put(MARK, MARK)
    assert len(server.asked) == 4


def test_a_wrong_token_is_refused_at_once(server: GitHubStandIn) -> None:
    with pytest.raises(
        RequestDenied, match=r"401 Unauthorized: Bad credentials\. Check GITHUB_TOKEN\."
    ) as error:
        comments(server, token="stale").put(MARK, MARK)  # noqa: S106
    assert len(server.asked) == 1
    assert "stale" not in str(error.value)


def test_nobody_listens() -> None:
    server = GitHubStandIn(TOKEN)
    server.server_close()
    with pytest.raises(RequestDenied, match="refused"):
        comments(server).put(MARK, MARK)


# ------------------------------------------------------------------------------------ which events


def job(tmp_path: Path, event: Any, **env: str) -> ActionsJob:
    (tmp_path / "event.json").write_text(event if isinstance(event, str) else json.dumps(event))
    given = {"GITHUB_REPOSITORY": "octo/search", "GITHUB_TOKEN": TOKEN}
    return ActionsJob({**given, "GITHUB_EVENT_PATH": str(tmp_path / "event.json"), **env})


@pytest.mark.parametrize(
    ("event", "number"),
    [
        ({"pull_request": {"number": 3}}, 3),
        ({"workflow_run": {"pull_requests": [{"number": 4}]}}, 4),
        ({"workflow_run": {"pull_requests": []}}, None),  # of a fork
        ({"workflow_run": {"pull_requests": [{"number": 4}, {"number": 5}]}}, None),
        ({"ref": "refs/heads/main", "commits": []}, None),
        ({"pull_request": "odd"}, None),
        ([], None),
        ("not JSON", None),
    ],
)
def test_the_pull_request_of_an_event(tmp_path: Path, event: Any, number: int | None) -> None:
    found = job(tmp_path, event)
    assert found.pull_request == number
    assert found.obstacle == (
        "" if number else "no comment: the event names no pull request (GITHUB_EVENT_PATH)"
    )


def test_what_else_may_be_missing(tmp_path: Path) -> None:
    event = {"pull_request": {"number": 3}}
    assert job(tmp_path, event, GITHUB_TOKEN="").obstacle == "no comment: GITHUB_TOKEN not set"
    assert ActionsJob({}).obstacle == "no comment: the event names no pull request (GITHUB_EVENT_PATH)"
    assert job(tmp_path, event).endpoint.address == "https://api.github.com"


def test_a_push_has_a_summary_and_no_comment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_study(tmp_path / "small", STUDY)
    assert assay("run", folder).code == 0
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    for name in ("GITHUB_EVENT_PATH", "GITHUB_OUTPUT", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    done = assay("report", folder, "--format", "github", "--post")
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [
        f"wrote {folder / 'run/report.github.md'}",
        "no comment: the event names no pull request (GITHUB_EVENT_PATH)",
    ]
    assert (tmp_path / "summary.md").read_text() == (folder / "run/report.github.md").read_text()


@pytest.mark.parametrize("options", [("--format", "html"), ("--json",), ("--format", "github", "-o", "-")])
def test_only_the_comment_is_posted(tmp_path: Path, options: Sequence[str]) -> None:
    done = assay("report", write_study(tmp_path / "small"), "--post", *options)
    assert (done.code, done.out) == (2, "")
    assert "--post needs --format github" in done.err


GOLDEN = """\
data: {use: golden, sets: golden-set-en.json, corpus: corpus, categories: {direct: {by: passages}}}
systems: {server: replay(path=server.run)}
judges: [anchors]
measures: [Success(rel=2)@3]
by: [category]
compare: {resamples: 200}
gates: {ship: {go: ["Success(rel=2)@3(server) >= 0%"]}}
"""


CHAPTERS = [f"the {word} lies in the chapter that is about {word} alone and nothing" for word in WORDS[:8]]


def write_golden_run(folder: Path, right: bool) -> None:
    """Finds each query's chapter first, or another one."""
    hits = [(n, n if right else n % 8 + 1) for n in range(1, 9)]
    ids = [f"en/book/{chapter:02d}#0-{len(CHAPTERS[chapter - 1])}" for _, chapter in hits]
    lines = [f"en-direct-{n:03d} Q0 {doc} 1 1 server\n" for (n, _), doc in zip(hits, ids, strict=True)]
    (folder / "server.run").write_text("".join(lines))


def expected(chapter: int) -> dict[str, Any]:
    text = CHAPTERS[chapter - 1]
    return {"book_slug": "book", "chapter_number": chapter, "passage_substring": text, "relevance": "high"}


def write_golden(folder: Path) -> None:
    """Eight queries, each for a chapter of its own."""
    (folder / "corpus/en/book").mkdir(parents=True)
    (folder / "study.yaml").write_text(GOLDEN)
    for chapter, text in enumerate(CHAPTERS, 1):
        (folder / f"corpus/en/book/{chapter:02d}.md").write_text(text)
    entries = [
        {
            "id": f"en-direct-{chapter:03d}",
            "query": f"where is @{WORDS[chapter - 1]}?",
            "language": "en",
            "category": "direct",
            "expected_passages": [expected(chapter)],
            "expected_routing": "search",
        }
        for chapter, _ in enumerate(CHAPTERS, 1)
    ]
    lines = [json.dumps(entry) for entry in entries]  # on lines 2 to 9
    (folder / "golden-set-en.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    write_golden_run(folder, right=True)


@pytest.mark.slow
def test_a_query_that_is_removed_fails_the_check(runner: Runner) -> None:
    """The check reads the queries of the branch that the pull request goes to, and needs no lock."""
    folder = runner.workspace / "golden"
    write_golden(folder)
    for command in (["init", "-q"], ["add", "golden"], ["commit", "-q", "-m", "queries"]):
        who = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
        subprocess.run(["git", *who, *command], cwd=runner.workspace, check=True)
    done = runner.play(study="golden", golden_against="HEAD")
    assert {name: step.code for name, step in done.items()} == PASSED
    path = folder / "golden-set-en.json"
    path.write_text(json.dumps(json.loads(path.read_text())[:7]))
    done = runner.play(study="golden", golden_against="HEAD")
    assert {name: step.code for name, step in done.items()} == {"golden": 3, "Verdict": 3}
    assert "en-direct-008: the item is gone; HEAD has it" in done["golden"].out
    assert runner.play(study="golden")["Verdict"].code == 0  # nothing is frozen: there is nothing to miss


@pytest.mark.slow
def test_a_regression_is_shown_at_the_line_of_its_item(runner: Runner) -> None:
    """Through a dataset that knows where its items stand."""
    folder = runner.workspace / "golden"
    write_golden(folder)
    assert assay("run", folder).code == 0
    assert assay("baseline", "tag", folder, "main").code == 0
    write_golden_run(folder, right=False)  # eight lost: p = 2 / 2^8 = 0.008
    done = runner.play(study="golden", against="main")
    assert (done["report"].code, done["Verdict"].code) == (0, 10)
    where = "file=golden/golden-set-en.json,line=3,title=worse than main%3A en-direct-002"
    assert f"::error {where}::where is @beta?%0ASuccess(rel=2)@3(server) 1.00 → 0%0A" in done["report"].out
    (body,) = bodies(runner.server)
    assert "| `en-direct-002` | where is @\u2060beta? | `Success(rel=2)@3` | book 2: the beta lies in" in body
    assert "| en/book/03\\#\u20600-67: the gamma lies in" in body
    assert "| `direct` | `Success(rel=2)@3` | ≥ 0 [0, 0.369] | 8 |" in body  # 1 - 0.025 ** (1 / 8)
    assert "- Warning: lower bounds: Success(rel=2)@\u20603 (" in body
