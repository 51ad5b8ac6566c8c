import type { Live } from "./live.ts";
import { type FromHub, PROTOCOL, type ToHub } from "./protocol.ts";
import { TabLive, type ToHubPort } from "./tab.ts";

const HUB = "/assets/hub.js";

/** How long after no hub could be had it is tried again. ms */
const AGAIN_MS = 2_000;

/** Connects this tab to what the server tells by itself. */
export function connectLive(): Live {
  let isAlone = typeof SharedWorker === "undefined";
  const live: TabLive = new TabLive((heard) => {
    const port = (isAlone ? ownHub : sharedHub)(failed);
    port.addEventListener("message", ({ data }: MessageEvent<FromHub>) => heard(data));
    port.start();
    const reached: ToHubPort = { post: (message) => port.postMessage(message), close: () => port.close() };
    reached.post(visibility());
    return reached;

    function failed(): void {
      if (isAlone) {
        // The server is gone, which the hub's script comes from.
        heard({ kind: "status", status: "gone" });
        setTimeout(enter, AGAIN_MS);
      } else {
        isAlone = true;
        enter();
      }
    }
  });
  function enter(): void {
    live.connect();
    if (!isAlone) void tellWhenGone(live);
  }
  addEventListener("pagehide", () => live.close());
  addEventListener("pageshow", ({ persisted }) => persisted && enter());
  addEventListener("online", () => live.retry());
  document.addEventListener("visibilitychange", () => live.post(visibility()));
  enter();
  return live;
}

function visibility(): ToHub {
  return { kind: "visible", visible: document.visibilityState === "visible" };
}

/** The hub of all tabs. `failed` is told when it is not to be had. */
function sharedHub(failed: () => void): MessagePort {
  try {
    const worker = new SharedWorker(scriptUrl(), `agent-bridge ${PROTOCOL}`);
    worker.addEventListener("error", failed, { once: true });
    return worker.port;
  } catch {
    // Where a browser keeps nothing for a page, it may let it share nothing either.
    setTimeout(failed);
    return new MessageChannel().port1;
  }
}

/** A hub for this tab alone. */
function ownHub(failed: () => void): MessagePort {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(scriptUrl());
  worker.addEventListener("error", failed, { once: true });
  worker.postMessage(null, [port1]);
  return port2;
}

/** Has the hub notice when this tab is gone without a word: it then gets the lock that the tab held. */
async function tellWhenGone(live: TabLive): Promise<void> {
  const name = crypto.randomUUID();
  const isHeld = (): Promise<never> => {
    live.post({ kind: "lock", name });
    return new Promise(() => undefined);
  };
  await navigator.locks?.request(name, isHeld);
}

/** Made once: the page's policy allows one of this name, and it allows this one script. */
const policy = trustedTypesOf(window)?.createPolicy("agent-bridge", {
  createScriptURL(url) {
    if (url !== HUB) throw new TypeError(`${url} is no script of this page`);
    return url;
  },
});

function scriptUrl(): string {
  return policy?.createScriptURL(HUB) ?? HUB;
}

/** What TypeScript does not know of yet. Its script URLs stand for the texts that they are made of. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (url: string) => string },
  ): { readonly createScriptURL: (url: string) => string };
}

function trustedTypesOf(global: object): TrustedTypes | undefined {
  return (global as { readonly trustedTypes?: TrustedTypes }).trustedTypes;
}
