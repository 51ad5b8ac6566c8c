import { CHALLENGE_HEADER, isProof, newChallenge, PROOF_HEADER } from "../platform/boot-proof.ts";
import { http } from "../platform/builtins.ts";
import { asObject } from "../platform/read.ts";

/** Who listens on a port of this machine; `silent`: someone who does not answer in time. */
export type Holder = "agent-bridge" | "other" | "silent" | "nobody";

/** A server of ours answers at once. */
const WAIT_MS = 1_000;
/** More than `/healthz` ever answers. */
const MOST_BYTES = 4 * 1024;

/** Asks who listens on `port`. Never fails. */
export async function holderOf(port: number): Promise<Holder> {
  return (await whoIsAt(port)).holder;
}

/** Whether the server of `bootNonce` is the one that listens on `port`; `silent` when nobody answers in time. Never fails. */
export async function isServerAt(port: number, bootNonce: string): Promise<boolean | "silent"> {
  const challenge = newChallenge();
  const { holder, proof } = await whoIsAt(port, { [CHALLENGE_HEADER]: challenge });
  if (holder === "silent") return "silent";
  return holder === "agent-bridge" && proof !== undefined && isProof(proof, bootNonce, challenge);
}

interface Found {
  readonly holder: Holder;
  readonly proof?: string | undefined;
}

function whoIsAt(port: number, headers: { readonly [name: string]: string } = {}): Promise<Found> {
  return new Promise((resolve) => {
    const asked = { host: "127.0.0.1", port, path: "/healthz", headers, agent: false, timeout: WAIT_MS };
    const request = http().get(asked, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        body += part;
        if (body.length > MOST_BYTES) request.destroy();
      });
      response.on("close", () => {
        const { [PROOF_HEADER]: proof } = response.headers;
        const holder = isOurs(response.headers, body) ? "agent-bridge" : "other";
        resolve({ holder, proof: typeof proof === "string" ? proof : undefined });
      });
    });
    request.on("timeout", () => {
      resolve({ holder: "silent" });
      request.destroy();
    });
    request.on("error", (error) => {
      resolve({ holder: "code" in error && error.code === "ECONNREFUSED" ? "nobody" : "other" });
    });
  });
}

/** `{"ok":true}` may be anyone's answer; with this header, which no usual health check sends, it is ours. */
function isOurs(headers: { readonly [name: string]: unknown }, body: string): boolean {
  if (headers["cross-origin-resource-policy"] !== "same-origin") return false;
  try {
    return asObject(JSON.parse(body))?.ok === true;
  } catch {
    return false;
  }
}
