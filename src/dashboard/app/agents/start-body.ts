import { wordsOf } from "./command-line.ts";

/** What the form that starts a session holds. */
export interface StartForm {
  readonly kind: "agent" | "command" | "terminal";
  readonly agent: string;
  readonly cwd: string;
  readonly prompt: string;
  readonly permit: string;
  readonly model: string;
  readonly name: string;
  readonly line: string;
}

/** What is sent to start it, or what is missing, in words. */
export function startBody(form: StartForm): { readonly body: object } | { readonly error: string } {
  const cwd = form.cwd.trim();
  if (cwd === "") return { error: "Give the folder that it is to work in." };
  const common = { cwd, ...filled({ name: form.name.trim() }) };
  if (form.kind === "agent") {
    if (form.agent === "") return { error: "Choose an agent." };
    const rest = filled({ model: form.model.trim(), prompt: form.prompt.trim() === "" ? "" : form.prompt });
    return { body: { agent: form.agent, permit: form.permit, ...common, ...rest } };
  }
  const found = wordsOf(form.line);
  if ("error" in found) return found;
  if (found.words.length === 0) return { error: "Give the command that it is to run." };
  return { body: { kind: form.kind, argv: found.words, ...common } };
}

function filled(fields: { readonly [name: string]: string }): { readonly [name: string]: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, text]) => text !== ""));
}
