import { type AskHandler, type ElicitParams, type ElicitResult, Fault } from "../../api/index.js";
import { clean, cleanLine, shortened } from "../out/clean.js";
import type { Screen } from "../out/screen.js";
import { askForm } from "./form.js";
import type { Terminal } from "./terminal.js";

/** Asks the person at the terminal a server's questions, one after another. */
export function askPerson(at: Terminal): AskHandler<ElicitParams, ElicitResult> {
  let last: Promise<unknown> = Promise.resolve();
  return (params, { signal }) => {
    const answer = last.then(() => {
      signal.throwIfAborted();
      return params.mode === "url" ? askUrl(params, at, signal) : askHere(params, at, signal);
    });
    last = answer.catch(() => {});
    return answer;
  };
}

/** Refuses every question, and prints that. */
export function refusePerson(screen: Screen): AskHandler<ElicitParams, ElicitResult> {
  return ({ message }) => {
    screen.line(`anywire: the server asks ${JSON.stringify(cleanLine(String(message)))}, but there is no terminal to answer at: refused`);
    throw new Fault("denied", "the server's question was refused: it needs a terminal to be answered at");
  };
}

function askHere(params: ElicitParams, at: Terminal, signal: AbortSignal): Promise<ElicitResult> {
  at.screen.line(at.screen.style.bold(`The server asks: ${clean(shortened(String(params.message)))}`));
  return askForm(params.requestedSchema, at, signal);
}

/** Shows the URL that the server wants its user to visit. The user has to open it: nothing is opened from here. */
async function askUrl(params: ElicitParams, at: Terminal, signal: AbortSignal): Promise<ElicitResult> {
  const { screen } = at;
  const url = webAddress(params.url);
  if (url === undefined) {
    screen.line(`anywire: the server wants a page opened that is no web page (${cleanLine(String(params.url))}): refused`);
    throw new Fault("denied", "only http and https addresses are shown to the user");
  }
  screen.line(screen.style.bold(`The server asks you to open a page: ${clean(shortened(String(params.message)))}`));
  screen.line(`  site  ${screen.style.bold(url.host)}`);
  screen.line(`  page  ${url.href}`);
  screen.line(screen.style.dim("Open it yourself if you trust it. y tells the server that you agree, n declines."));
  const typed = await at.ask("Agree? [y/N] ", signal);
  if (typed === undefined) return { action: "cancel" };
  return { action: /^(y|yes)$/i.test(typed.trim()) ? "accept" : "decline" };
}

/** The URL in a form that hides nothing: look-alike letters in the host become visible. */
function webAddress(url: unknown): URL | undefined {
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  return parsed.protocol === "https:" || parsed.protocol === "http:" ? parsed : undefined;
}
