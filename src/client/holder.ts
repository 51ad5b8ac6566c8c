import { get } from "node:http";
import { asObject } from "../platform/read.ts";

/** Who listens on a port of this machine; `silent`: someone who does not answer in time. */
export type Holder = "agent-bridge" | "other" | "silent" | "nobody";

/** A server of ours answers at once. */
const WAIT_MS = 1_000;
/** More than `/healthz` ever answers. */
const MOST_BYTES = 4 * 1024;

/** Asks who listens on `port`. Never fails. */
export function holderOf(port: number): Promise<Holder> {
  return new Promise((resolve) => {
    const request = get({ host: "127.0.0.1", port, path: "/healthz", agent: false, timeout: WAIT_MS }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        body += part;
        if (body.length > MOST_BYTES) request.destroy();
      });
      response.on("close", () => resolve(isOurs(response.headers, body) ? "agent-bridge" : "other"));
    });
    request.on("timeout", () => {
      resolve("silent");
      request.destroy();
    });
    request.on("error", (error) => resolve("code" in error && error.code === "ECONNREFUSED" ? "nobody" : "other"));
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
