import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** A way to a server that counts how many connections to its events are open. */
export interface Counted {
  readonly url: string;
  /** Open now. */
  readonly open: number;
  /** Opened so far, by what they were asked for. */
  readonly targets: readonly string[];
}

/** Listens on a free port and passes everything on to the server at `port`, until the test ends. */
export async function countedWay(t: TestContext, port: number): Promise<Counted> {
  const targets: string[] = [];
  let open = 0;
  const server = createServer((asked: IncomingMessage, answer: ServerResponse) => {
    const { method, url: path = "", headers } = asked;
    if (path.startsWith("/api/events")) {
      targets.push(path);
      open++;
      answer.on("close", () => open--);
    }
    const onward = request({ host: "127.0.0.1", port, method, path, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.rawHeaders);
      response.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    answer.on("close", () => onward.destroy());
    asked.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    targets,
    get open() {
      return open;
    },
  };
}
