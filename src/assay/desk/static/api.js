// Talking to the server: what it refuses, and what never arrived, are two kinds of failure.

/** The server understood and said no. */
export class Refused extends Error {
  constructor(status, trouble, wait) {
    super(trouble.what);
    this.status = status;
    this.problems = trouble.problems ?? [];
    this.current = trouble.current ?? null;
    this.wait = wait;
  }
}

/** Somebody else has logged in in this browser since: what this page holds is not theirs. */
export class Replaced extends Refused {
  constructor(rater) {
    super(403, { what: `${rater} has logged in in this browser since. What you wrote is kept for you. Load the page again.` });
  }
}

/** Nobody knows whether it arrived: the same may be sent again. */
export class Unreached extends Error {}

const SESSION = "/api/session";
const PATIENCE_MS = 20_000;
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 5_000;

export const desk = { session: null, work: null, view: null };

export async function ask(method, path, body) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  // Readings bring it too: another rater's cookie may be in this browser by now, and theirs is not to be shown.
  if (desk.session && !(method === "GET" && path === SESSION)) headers["X-CSRF"] = desk.session.csrf;
  let answer;
  let text;
  try {
    answer = await fetch(path, {
      method, headers, cache: "no-store", credentials: "same-origin", redirect: "error",
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    text = await answer.text();
  } catch (error) {
    throw new Unreached("no connection", { cause: error });
  }
  if (answer.status >= 500) throw new Unreached(`the server is in trouble (${answer.status})`);
  const found = parsed(text);
  if (!answer.ok) throw new Refused(answer.status, found ?? { what: `the server answered ${answer.status}` }, Number(answer.headers.get("Retry-After")));
  return found;
}

function parsed(text) {
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Unreached("half an answer arrived");
  }
}

const sleepers = new Set();
const sleep = (ms) => new Promise((wake) => {
  const done = () => { clearTimeout(timer); sleepers.delete(done); wake(); };
  const timer = setTimeout(done, ms);
  sleepers.add(done);
});
const wakeAll = () => [...sleepers].forEach((wake) => wake());
addEventListener("online", wakeAll);
document.addEventListener("visibilitychange", () => { if (!document.hidden) wakeAll(); });

/** Asks until there is an answer. `watch` hears of each failed try, `wanted` says whether anybody still waits. */
export async function askPatiently(method, path, body, { watch = () => {}, wanted = () => true, logIn }) {
  let wait = FIRST_WAIT_MS;
  let renewed = false;
  for (;;) {
    try {
      const answer = await ask(method, path, body);
      watch(null);
      return answer;
    } catch (error) {
      if (!wanted()) throw error;
      if (error instanceof Unreached) {
        watch(error);
        await sleep(wait * (0.8 + 0.4 * Math.random()));
        wait = Math.min(2 * wait, LONGEST_WAIT_MS);
      } else if (error.status === 401) {
        await logIn();
      } else if (error.status === 429) {
        watch(error);
        await sleep(1000 * (error.wait || 5));
      } else if (error.status === 403 && !renewed) {
        // Another tab may have logged in again: every change then has to send another token.
        renewed = true;
        const now = await askPatiently("GET", SESSION, undefined, { watch, wanted, logIn });
        if (desk.session && now.rater !== desk.session.rater) throw new Replaced(now.rater);
        desk.session = now;
      } else {
        throw error;
      }
    }
  }
}

export const stepPath = (step) => `/api/steps/${encodeURIComponent(step)}`;
export const taskPath = (step, taskId) => `${stepPath(step)}/tasks/${encodeURIComponent(taskId)}`;
