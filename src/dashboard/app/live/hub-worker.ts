import { Hub } from "./hub.ts";
import { seat } from "./port.ts";
import { BROWSER } from "./stream.ts";

const hub = new Hub(BROWSER);

/** A tab comes: to a worker that all tabs share by its connecting, to one of its own by what it posts. */
function comes(event: Event): void {
  for (const port of (event as MessageEvent).ports) seat(hub, port);
}

addEventListener("connect", comes);
addEventListener("message", comes);
