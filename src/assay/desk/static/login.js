// Who is there: by the link that the server printed, or by name and password.
import { Refused, ask, desk } from "./api.js";
import { make, openDialog } from "./dom.js";

/** The token in what was pasted: a whole link, or only the token. */
export const tokenIn = (text) => text.trim().split("#").at(-1);

export async function enter(entry) {
  desk.session = await ask("POST", "/api/session", entry);
  return desk.session;
}

/** A form that logs in; `entered` is called once somebody has. */
export function loginForm(entered) {
  const told = make("div", { role: "alert" });
  const submit = (entryOf) => async (event) => {
    event.preventDefault();
    told.replaceChildren();
    try {
      await enter(entryOf(Object.fromEntries(new FormData(event.target))));
      entered();
    } catch (error) {
      const wait = error instanceof Refused && error.wait ? ` Try again in ${error.wait} seconds.` : "";
      told.replaceChildren(make("p", { class: "problem", text: `${error.message}${wait}` }));
    }
  };
  const field = (label, props) => make("label", { class: "field" }, make("span", { text: label }), make("input", { required: true, maxlength: 200, ...props }));
  const go = () => make("button", { type: "submit", class: "first", text: "Enter" });
  return make("div", { class: "login" }, told,
    make("form", { on: { submit: submit((given) => ({ token: tokenIn(given.link) })) } },
      make("h2", { text: "With a link" }), make("p", { class: "quiet", text: "The command that serves the desk prints one for each rater. A link works once." }),
      field("Link", { name: "link", autocomplete: "off", spellcheck: "false", maxlength: 400 }), go()),
    make("form", { on: { submit: submit((given) => ({ rater: given.rater, password: given.password })) } },
      make("h2", { text: "With a password" }),
      field("Your name", { name: "rater", autocomplete: "username" }), field("Password", { name: "password", type: "password", autocomplete: "current-password" }), go()));
}

let asking = null;

/** Asks to log in again, over whatever is shown, once for all that wait for it. */
export function logInAgain() {
  asking ??= new Promise((entered) => {
    const dialog = openDialog("You are logged out", make("div", {},
      make("p", { text: "What you wrote is kept here, and is sent once you are back." }), loginForm(() => dialog.close())),
    { closable: false, closed: () => { asking = null; entered(); } });
  });
  return asking;
}
