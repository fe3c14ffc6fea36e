"""Delivers a report in a run of GitHub Actions: as comment, summary, annotations and outputs.

Each study has one comment on a pull request. Its first line identifies the comment, and each run updates it.
A failure to deliver is reported, but changes neither a verdict nor an exit code.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from assay.core.dataset import Place
from assay.core.endpoint import LARGEST, Endpoint, is_passing, pause_before, read_unpacked
from assay.core.errors import AssayError
from assay.core.results import GO, INCONCLUSIVE, NO_GO, ItemChange, ItemView, Results
from assay.core.unpacking import OversizedContent
from assay.report.github import expected_text, marker, returned_text
from assay.report.verdicts import clause_words, relevant_clauses, supports_go
from assay.report.wording import VARIES, number, printable, shorten
from assay.study.study import Study

if TYPE_CHECKING:
    import httpx


API = "https://api.github.com"
PAGE = 100  # comments asked for at once
LIMITED = "60"  # seconds to wait if GitHub asks to slow down without a number of seconds
ROOM = 400  # characters that may follow the report in a comment
_OURS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})  # their comments and those of bots may be updated
_PERMISSION = (
    "Give the job `permissions: pull-requests: write`. A run for a pull request from a fork has a token that "
    "may only read"
)
_ADVICE = {401: "Check GITHUB_TOKEN", 403: _PERMISSION, 404: _PERMISSION}


@dataclass(frozen=True)
class Delivery:
    """The outcome of a delivery: the address of the comment, a line about it, and commands for the runner."""

    url: str | None
    said: str
    commands: list[str]


def deliver_report(
    results: Results,
    study: Study,
    report: Path,
    sleep: Callable[[float], None] = time.sleep,
) -> Delivery:
    """Posts a written report, and adds the summary and the outputs to the files that the runner reads."""
    job = ActionsJob(study.kit.env)
    body = f"{report.read_text(encoding='utf-8').rstrip()}{job.origin}\n"
    url, said, remarks = None, job.obstacle, []
    if not said:
        try:
            comments = PullRequestComments(job.endpoint, job.repository, job.pull_request or 0, sleep)
            url = comments.put(body, marker(results.study))
            said = f"the comment: {url}"
        except AssayError as error:
            said = f"no comment: {error}"
            remarks.append(Annotation("warning", "assay could not comment", said))
    job.write("GITHUB_STEP_SUMMARY", body)
    found = {"verdict": results.verdict or "", "report": str(report), "comment-url": url or ""}
    for name, value in found.items():
        end = secrets.token_hex(16)  # nobody can guess the line that ends the value
        job.write("GITHUB_OUTPUT", f"{name}<<{end}\n{value}\n{end}\n")
    return Delivery(url, said, annotation_commands(results, study, job.workspace, remarks))


# ----------------------------------------------------------------------------------- the runner


@dataclass(frozen=True)
class ActionsJob:
    """The job of GitHub Actions, as the runner's environment describes it."""

    env: Mapping[str, str]

    @property
    def repository(self) -> str:
        return self.env.get("GITHUB_REPOSITORY", "")

    @property
    def workspace(self) -> Path:
        return Path(self.env.get("GITHUB_WORKSPACE") or ".").resolve()

    @property
    def endpoint(self) -> Endpoint:
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        return Endpoint(
            self.env.get("GITHUB_API_URL") or API,
            self.env.get("GITHUB_TOKEN", ""),
            timeout=20.0,
            retries=3,
            headers=headers,
        )

    @cached_property
    def event(self) -> Mapping[str, Any]:
        """The event that started the run; empty if the environment names none."""
        try:
            found = msgspec.json.decode(Path(self.env.get("GITHUB_EVENT_PATH", "")).read_bytes())
        except (OSError, msgspec.DecodeError):
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def _pull(self) -> Mapping[str, Any]:
        """The pull request of the event; empty if the event has none, or if its workflow run has several."""
        after = self.event.get("workflow_run")
        several = after.get("pull_requests") if isinstance(after, dict) else None
        alone = several[0] if isinstance(several, list) and len(several) == 1 else None
        found = self.event.get("pull_request", alone)
        return found if isinstance(found, dict) else {}

    @property
    def pull_request(self) -> int | None:
        number = self._pull.get("number")
        return number if isinstance(number, int) else None

    @property
    def obstacle(self) -> str:
        """The reason why there can be no comment; empty if there can be one."""
        if self.pull_request is None:
            return "no comment: the event names no pull request (GITHUB_EVENT_PATH)"
        missing = [name for name in ("GITHUB_REPOSITORY", "GITHUB_TOKEN") if not self.env.get(name)]
        return f"no comment: {' and '.join(missing)} not set" if missing else ""

    @property
    def origin(self) -> str:
        """A last line with the commit that the report is about, and the run that has its files."""
        head = self._pull.get("head")
        commit = str(head.get("sha", "")) if isinstance(head, dict) else self.env.get("GITHUB_SHA", "")
        server, run = self.env.get("GITHUB_SERVER_URL", ""), self.env.get("GITHUB_RUN_ID", "")
        link = f"[run and artifacts]({server}/{self.repository}/actions/runs/{run})" if server and run else ""
        parts = [f"commit {commit[:12]}" if commit.isalnum() else "", link]
        line = f"\n\n<sub>{'; '.join(filter(None, parts))}</sub>" if any(parts) else ""
        return line if len(line) <= ROOM else ""

    def write(self, name: str, text: str) -> None:
        """Appends text to the file that an environment variable names, if the variable is set."""
        if path := self.env.get(name):
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(text)


# ------------------------------------------------------------------------------------- comments


class RequestDenied(AssayError):
    """Raised when GitHub refuses a request and would refuse it again, or when all attempts failed."""


class _TransientError(AssayError):
    """Raised when an attempt failed and may be repeated, after `retry_after` seconds."""

    def __init__(self, what: str, retry_after: str | None = None) -> None:
        super().__init__(what)
        self.retry_after = retry_after


class PullRequestComments:
    """The comments of one pull request, read and written with GitHub's REST API."""

    def __init__(
        self, endpoint: Endpoint, repository: str, number: int, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.endpoint, self._sleep = endpoint, sleep
        self._all = f"/repos/{repository}/issues/{number}/comments"
        self._each = f"/repos/{repository}/issues/comments"

    def put(self, body: str, mark: str) -> str:
        """Writes the comment that begins with a mark, or updates the first such comment. Returns its address.

        Every attempt first looks for the comment, because an attempt whose answer was lost may have left one.
        """
        attempt = 1
        while True:
            try:
                return self._put(body, mark)
            except _TransientError as error:
                if attempt > self.endpoint.retries:
                    raise RequestDenied(
                        f"GitHub gave nothing of use in {attempt} attempts: {error}"
                    ) from error
                asked = error.retry_after
            attempt += 1
            self._sleep(pause_before(attempt, self.endpoint.backoff, asked))

    def _put(self, body: str, mark: str) -> str:
        for found in self._marked(mark):
            try:
                return self._written("PATCH", f"{self._each}/{found}", body)
            except RequestDenied:
                continue  # the comment is somebody else's, or is gone
        return self._written("POST", self._all, body)

    def _written(self, method: str, path: str, body: str) -> str:
        answer = self._ask(method, path, {"body": body})
        return str(answer.get("html_url", "")) if isinstance(answer, dict) else ""

    def _marked(self, mark: str) -> list[int]:
        """Returns the ids of the comments that begin with a mark, oldest first.

        Strangers' comments are left out.
        """
        found: list[int] = []
        page = 1
        while True:
            rows = self._ask("GET", f"{self._all}?per_page={PAGE}&page={page}")
            if not isinstance(rows, list):
                raise _TransientError("an answer that is not a list of comments")
            found += [row["id"] for row in rows if _is_ours(row) and str(row.get("body")).startswith(mark)]
            if len(rows) < PAGE:
                return found
            page += 1

    def _ask(self, method: str, path: str, payload: object = None) -> Any:
        import httpx

        endpoint = self.endpoint
        try:
            with httpx.stream(
                method,
                endpoint.address + path,
                headers=endpoint.sent_headers,
                content=None if payload is None else msgspec.json.encode(payload),
                timeout=endpoint.timeout,
                trust_env=not endpoint.loopback,
                verify=endpoint.encrypted,
            ) as response:
                content = b"".join(read_unpacked(response, LARGEST))
        except httpx.RequestError as error:
            raise _TransientError(endpoint.conceal(str(error) or type(error).__name__)) from error
        except OversizedContent as error:
            raise _TransientError(f"an answer of more than {LARGEST >> 20} MiB") from error
        except ValueError as error:
            raise _TransientError(endpoint.conceal(str(error))) from error
        return self._read(response, content)

    def _read(self, response: httpx.Response, content: bytes) -> Any:
        """Returns the content of an answer.

        After a failure it raises _TransientError if a retry may help, else RequestDenied.
        """
        try:
            answer = msgspec.json.decode(content)
        except ValueError:
            answer = None
        said = str(answer.get("message", "")) if isinstance(answer, dict) else ""
        status, headers = response.status_code, response.headers
        what = self.endpoint.conceal(f"{status} {response.reason_phrase}: {said}").strip(" :.")
        if _is_limited(status, headers, said):
            raise _TransientError(what, headers.get("Retry-After", LIMITED))
        if is_passing(status) or (response.is_success and answer is None):
            raise _TransientError(what, headers.get("Retry-After"))
        if not response.is_success:
            raise RequestDenied(
                f"GitHub answers {what}. {_ADVICE.get(status, 'Change the report as it says')}."
            )
        return answer


def _is_ours(row: Mapping[str, Any]) -> bool:
    """Whether a bot wrote a comment, or somebody who may write to the repository.

    Only such comments are updated. A stranger could write the mark first, and later change what we wrote.
    """
    user = row.get("user") or {}
    return user.get("type") == "Bot" or row.get("author_association") in _OURS


def _is_limited(status: int, headers: Mapping[str, str], said: str) -> bool:
    """Whether GitHub asks to slow down. For that it may use the status of a refusal."""
    spent = headers.get("X-RateLimit-Remaining") == "0"
    return status == 429 or (status == 403 and (spent or "Retry-After" in headers or "rate limit" in said))


# ----------------------------------------------------------------------------------------------

SHOWN = 10  # annotations of each kind that GitHub shows for a step
TEXT = 300  # characters of a text


class Annotation(NamedTuple):
    """A remark on a place in the repository: an error if it stops the study, else a warning."""

    kind: str
    title: str
    text: str
    place: Place | None = None


def annotation_commands(
    results: Results, study: Study, workspace: Path, first: Sequence[Annotation] = ()
) -> list[str]:
    """Returns commands that show in the files what went wrong: first gates, then items that got worse."""
    found = [*first, *_gates(results, study), *_regressions(results, study)]
    commands = []
    for kind in ("error", "warning"):
        those = [one for one in found if one.kind == kind]
        if len(those) > SHOWN:
            more = f"{len(those) - SHOWN + 1} more, in the report"
            those = [*those[: SHOWN - 1], Annotation(kind, "assay", more)]
        commands += [_command(one, workspace) for one in those]
    return commands


def _command(one: Annotation, workspace: Path) -> str:
    """Returns a command for the runner. No text in it can begin another command."""

    def data(text: str) -> str:
        return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    properties = {"title": one.title}
    path = None if one.place is None else Path(one.place.file).resolve()
    if one.place is not None and path is not None and path.is_relative_to(workspace):
        line = {} if one.place.line is None else {"line": str(one.place.line)}
        properties = {"file": path.relative_to(workspace).as_posix(), **line, **properties}
    pairs = [
        f"{name}={data(value).replace(':', '%3A').replace(',', '%2C')}" for name, value in properties.items()
    ]
    return f"::{one.kind} {','.join(pairs)}::{data(one.text)}"


def _gates(results: Results, study: Study) -> Iterator[Annotation]:
    """Yields annotations for the clauses that keep a gate from a go.

    They are errors if the gate decides and its verdict is a no-go.
    """
    for gate in results.verdicts:
        if gate.verdict == GO:
            continue
        decides = gate.deciding and gate.verdict == NO_GO
        at = study.lines.problem(["gates", gate.gate], "")  # a gate may be in a file of its own
        title = f"{gate.gate}: {gate.verdict}" + ("" if gate.deciding else ", informs")
        against = {False, None} if gate.verdict == INCONCLUSIVE else {False}
        found = [clause_words(one) for one in relevant_clauses(gate) if supports_go(one) in against]
        texts = [words.sentence + (f" ({words.why})" if words.why else "") for words in found]
        for text in texts or [gate.reason]:
            kind = "error" if decides else "warning"
            yield Annotation(kind, title, shorten(text, 2 * TEXT), Place(at.where, at.line))


def _regressions(results: Results, study: Study) -> Iterator[Annotation]:
    """Yields annotations for the items that got worse.

    They are errors only if the loss is a no-go and the items do not vary by themselves.
    """
    against = results.against
    if against is None:
        return
    gate = f"against {against.baseline}"
    lost = any(each.gate == gate and each.verdict == NO_GO for each in results.verdicts)
    items = {item.item_id: item for item in results.items}
    datasets = [study.dataset(arm) for arm in study.arms if arm.name in results.arms]
    places = {name: place for dataset in reversed(datasets) for name, place in dataset.places.items()}
    by_item: dict[str, list[ItemChange]] = {}
    for change in against.regressions:
        by_item.setdefault(change.item_id, []).append(change)
    for name, changes in by_item.items():
        title = f"worse than {against.baseline}: {name}"
        kind = "error" if lost and not all(change.varies for change in changes) else "warning"
        yield Annotation(kind, title, _change_text(changes, items.get(name)), places.get(name))


def _change_text(changes: Sequence[ItemChange], item: ItemView | None) -> str:
    """Returns the query, how its scores fell, what was expected and what came back."""
    first = changes[0]
    scores = [
        f"{one.measure}({one.arm}) {number(one.before)} → {number(one.after)}"
        + (f" ({VARIES})" if one.varies else "")
        for one in changes
    ]
    parts = [shorten(first.text, TEXT), ", ".join(scores)]
    if item is not None:
        parts.append(f"expected: {shorten(expected_text(item), TEXT)}")
        parts.append(f"came back first: {shorten(returned_text(item, first.arm), TEXT)}")
    return "\n".join(parts)
