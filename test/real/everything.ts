import { type Api, ask, events, type Machine, open } from "../built/product.ts";
import { soon } from "./waiting.ts";

/** Commands that print what is in the stores, `ID` standing for a session's id. */
const COMMANDS: readonly (readonly string[])[] = [
  ["ls"],
  ["ls", "--json", "--children"],
  ["show", "ID"],
  ["show", "ID", "--json"],
  ["tail", "ID"],
  ["runs"],
  ["jobs"],
  ["doctor"],
  ["doctor", "--json"],
];

/** What a path of the API's description can name. */
type Named = { readonly [parameter: string]: string };

/**
 * Asks every `GET` route that the API describes for every session and subagent of `agent`, and every record for its uncut items.
 * The paths that were answered, without the sessions' ids.
 */
export async function askEverything(api: Api, agent: string): Promise<Set<string>> {
  const answered = new Set<string>();
  const names = await everyName(api, agent);
  const { paths } = (await ask(api, "/api/openapi.json")).json;
  for (const pattern of Object.keys(paths).filter((path) => "get" in paths[path])) {
    for (const name of names) {
      const path = filled(pattern, name);
      if (path === undefined) continue;
      for (const asked of await targetsAt(api, path)) {
        await soon(`${asked} is answered`, answer(api, asked));
        answered.add(pattern);
      }
    }
  }
  return answered;
}

/** Runs every command that reads, the ones for a session with `id`; those that failed, or that Node warned in. */
export async function commandsThatFail(machine: Machine, id: string): Promise<string[]> {
  const failed: string[] = [];
  for (const words of COMMANDS) {
    const run = machine.run(...words.map((word) => (word === "ID" ? id : word)));
    const { code, err } = await soon(`${words.join(" ")} ends`, run);
    if (code !== 0 || /warning/i.test(err)) failed.push(`${words.join(" ")}: ${code} ${err}`);
  }
  return failed;
}

async function everyName(api: Api, agent: string): Promise<Named[]> {
  const { transcripts } = (await ask(api, `/api/transcripts?agent=${agent}&children=1&limit=500`)).json;
  const names: Named[] = [];
  for (const { id } of transcripts) {
    const { subagents } = (await ask(api, `/api/transcripts/${agent}/${id}/subagents`)).json;
    names.push({ agent, id }, ...subagents.map((child: { id: string }) => ({ agent, id, child: child.id })));
  }
  return [{}, ...names];
}

/** The path for `name`; undefined unless all that it names, and nothing else, is in `name`. */
function filled(pattern: string, name: Named): string | undefined {
  const wanted = [...pattern.matchAll(/\{(\w+)\}/g)].map(([, parameter = ""]) => parameter);
  if (wanted.length !== Object.keys(name).length || wanted.some((parameter) => !(parameter in name))) return undefined;
  return pattern.replace(/\{(\w+)\}/g, (_, parameter: string) => encodeURIComponent(name[parameter] ?? ""));
}

/** The targets to ask for at `path`: pages from both ends, and each record once. */
async function targetsAt(api: Api, path: string): Promise<string[]> {
  if (!path.endsWith("/item")) return path.endsWith("/chat") ? [path, `${path}?from=tail`] : [path];
  const chat = path.replace(/\/item$/, path.includes("/subagents/") ? "" : "/chat");
  const { items } = (await ask(api, chat)).json;
  const refs = new Set<string>(items.map(({ ref }: { ref: string }) => ref));
  return [...refs].map((ref) => `${path}?ref=${encodeURIComponent(ref)}`);
}

/** Reads the answer to a target; of a stream, its first event. @throws when it is refused */
async function answer(api: Api, target: string): Promise<void> {
  const response = await open(api, target);
  if (response.headers["content-type"]?.startsWith("text/event-stream")) {
    await events(response).next();
    response.destroy();
  } else {
    for await (const _ of response);
  }
  if (response.statusCode !== 200) throw new Error(`${target}: ${response.statusCode}`);
}
