// The desk: who is there, which view the address asks for, and what stands at the top of every one.
import { Refused, ask, askPatiently, desk, taskPath } from "./api.js";
import { button, byId, dialogOpen, make, say } from "./dom.js";
import { setGeneralKeys, setKeys, showKeys } from "./keys.js";
import { enter, logInAgain, loginForm, tokenIn } from "./login.js";
import { overviewPart } from "./overview.js";
import { REGISTER, registerPart } from "./register.js";
import { forgetSaved, hold, letChange, onSavedElsewhere, release, sendLeftovers, setLogIn, setTrouble, unsaved } from "./saving.js";
import { TaskView, stepOf } from "./task.js";

let shown = null;
let turn = 0;
let place = null; // the address of what is shown

const isToken = (hash) => hash.length > 1 && !hash.startsWith("#/");
const addressOf = (parts) => `#/${parts.map(encodeURIComponent).join("/")}`;

/** Goes to a step or a task; `afresh` where it is the one that is shown already. */
function go(parts, afresh = false) {
  const address = addressOf(parts);
  if (location.hash !== address) {
    leave();
    location.hash = address;
  } else if (afresh || !shown) route();
}

/** From here on what is shown takes nothing more, and what is still being fetched for another address is not wanted. */
function leave() {
  turn += 1;
  shown?.close();
  hold("Loading…");
}

// ------------------------------------------------------------------------------------------- views

function put(view) {
  shown = view instanceof TaskView ? view : null;
  byId("main").replaceChildren(shown ? shown.element : view);
  byId("main").className = shown ? "for-task" : "";
  byId("bar").hidden = !shown;
  drawTop();
  if (place !== location.hash) scrollTo(0, 0); // another one is read from its start
  place = location.hash;
  const mine = turn;
  // Two frames on it has been painted, and keys that came before have gone by: none is for what nobody saw.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    if (turn !== mine) return;
    release();
    if (shown) shown.shown();
    else showHeading();
  }));
}

/** The focus goes to the heading, and the window is named after it. */
function showHeading() {
  const heading = byId("main").querySelector("h1");
  const name = "Review desk";
  document.title = heading.textContent === name ? name : `${heading.textContent} · ${name}`;
  heading.focus({ preventScroll: true });
}

function drawTop() {
  const { view, session } = desk;
  const done = view?.tasks.filter((each) => each.done).length;
  byId("where").replaceChildren(...[
    make("a", { href: "#/", class: "home", title: "Overview (g)", "aria-keyshortcuts": "g", text: session?.title ?? "Review desk" }),
    shown ? make("span", { class: "progress" }, make("progress", { max: view.tasks.length, value: done, "aria-hidden": "true" }),
      make("span", { class: "figure", text: `${done} of ${view.tasks.length} done` })) : null].filter(Boolean));
}

function drawTools() {
  const theme = button("", "", () => { say(`Theme: ${window.deskTheme.next()}`); named(); }, { kind: "plain" });
  const named = () => {
    const name = window.deskTheme.current();
    theme.firstChild.textContent = { auto: "◐ Auto", light: "○ Light", dark: "● Dark" }[name];
    theme.setAttribute("aria-label", `Theme: ${name}`);
    theme.title = "Light, dark, or as the system has it";
  };
  named();
  const out = desk.session ? make("button", { type: "button", class: "plain", text: "Log out", title: `You score as ${desk.session.rater}`, on: { click: logOut } }) : null;
  byId("tools").replaceChildren(...[theme, button("Keys", "?", showKeys, { kind: "plain" }), out].filter(Boolean));
}

async function overview(how) {
  const get = (path) => askPatiently("GET", path, undefined, { watch: setTrouble, ...how });
  const [work, precedents] = await Promise.all([get("/api/work"), get("/api/register")]);
  Object.assign(desk, { work, view: null });
  if (!how.wanted()) return;
  put(overviewPart(work, work.register_open || precedents.length > 0, go));
}

async function register(how) {
  const entries = await askPatiently("GET", "/api/register", undefined, { watch: setTrouble, ...how });
  if (!how.wanted()) return;
  setKeys([]);
  put(make("div", { class: "overview" }, make("h1", { tabIndex: -1, text: "Precedents" }),
    make("p", { class: "lead", text: "What was decided once is decided the same way again." }), registerPart(entries)));
}

async function step(name, how) {
  const view = await stepOf(name, how);
  if (!how.wanted()) return;
  const first = view.tasks.find((each) => !each.done) ?? view.tasks.find((each) => each.queued) ?? view.tasks[0];
  if (first) history.replaceState(null, "", addressOf([name, first.task_id]));
  if (first) await task(name, first.task_id, how);
  else put(empty(view.title, "There is nothing to score in this pass. Go back to the overview (g)."));
}

async function task(name, taskId, how) {
  desk.work ??= await askPatiently("GET", "/api/work", undefined, { watch: setTrouble, ...how });
  const [view, found] = await Promise.all([
    stepOf(name, how), askPatiently("GET", taskPath(name, taskId), undefined, { watch: setTrouble, ...how })]);
  if (how.wanted()) put(new TaskView(view, found, go));
}

const empty = (title, text) => make("div", { class: "overview" }, make("h1", { tabIndex: -1, text: title }), make("p", { class: "empty", text }),
  make("p", {}, make("a", { href: "#/", text: "Overview" })));

async function route() {
  if (isToken(location.hash)) {
    await begin();
    return;
  }
  leave();
  const mine = turn;
  const how = { wanted: () => turn === mine, logIn: logInAgain };
  const [name, taskId] = location.hash.slice(2).split("/").filter(Boolean).map(decodeURIComponent);
  try {
    if (name === REGISTER) await register(how);
    else if (taskId) await task(name, taskId, how);
    else if (name) await step(name, how);
    else await overview(how);
  } catch (error) {
    if (!how.wanted()) return;
    if (!(error instanceof Refused)) throw error;
    desk.view = null;
    put(empty("This cannot be opened", [error.message, ...error.problems].join(" ")));
  }
}

// ------------------------------------------------------------------------------------------- who

async function begin() {
  const token = isToken(location.hash) ? tokenIn(location.hash) : null;
  // Out of the address before anything else, so that it stays in no history and no screenshot.
  if (token) history.replaceState(null, "", location.pathname);
  let told = "";
  try {
    if (token) await enter({ token });
  } catch (error) {
    told = error.message; // used already, perhaps by this very browser: then its session still holds
  }
  try {
    desk.session = await askPatiently("GET", "/api/session", undefined, { watch: setTrouble, logIn: () => { throw new Error("logged out"); } });
  } catch {
    desk.session = null;
  }
  drawTools();
  if (desk.session) opened();
  else askWho(told);
}

function askWho(told) {
  setKeys([]);
  put(make("div", { class: "overview" }, make("h1", { tabIndex: -1, text: "Review desk" }),
    told ? make("p", { class: "problem", role: "alert", text: told }) : null, loginForm(() => { drawTools(); opened(); })));
}

function opened() {
  desk.view = null;
  desk.work = null;
  sendLeftovers((stepName, taskId, error) => say(`Not saved: ${error.message}`));
  route();
}

async function logOut() {
  if (unsaved() && !confirm("Something is not saved yet. It stays in this browser as a draft. Log out?")) return;
  await ask("DELETE", "/api/session").catch(() => {});
  leave();
  Object.assign(desk, { session: null, work: null, view: null });
  history.replaceState(null, "", location.pathname);
  forgetSaved();
  drawTools();
  askWho("");
}

// --------------------------------------------------------------------------------------- beginning

setLogIn(logInAgain);
setGeneralKeys([
  { keys: ["g"], about: "Overview", act: () => desk.session && go([], true) },
  { keys: ["?"], about: "All keys", act: showKeys },
  { keys: ["Escape"], about: "Change what waits for the connection", act: letChange },
]);
onSavedElsewhere(({ step: stepName, taskId }) => {
  if (desk.view?.step === stepName) desk.view.stale = true;
  // What is being written here is left alone: the server says what stands once it is sent.
  const same = shown?.task.step === stepName && shown.task.task_id === taskId;
  if ((same || !shown) && !unsaved()) route();
});
document.addEventListener("visibilitychange", async () => {
  if (document.hidden || !desk.session || unsaved() || dialogOpen()) return;
  const before = shown;
  // The screen is drawn again only if the mark is another one now: nothing moves without a reason.
  const found = before ? await ask("GET", taskPath(before.task.step, before.task.task_id)).catch(() => null) : null;
  const differs = found && (found.mark?.mark_id ?? null) !== before.base;
  if (shown === before && !unsaved() && (!before || differs)) route();
});
document.querySelector("[data-skip]").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
// An on-screen keyboard takes its room from the page: what is being written stays in view.
addEventListener("resize", () => {
  if (document.activeElement.matches("textarea, input")) document.activeElement.scrollIntoView({ block: "nearest" });
});
addEventListener("hashchange", route);
begin();
