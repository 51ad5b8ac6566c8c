import { errorIn, Refused, read } from "../api.ts";
import { EventText } from "./event-text.ts";
import type { HubTools, StreamListener } from "./tools.ts";

/** The server writes something every 15 s; a connection that is silent for longer is one of a machine that slept. */
const SILENCE_MS = 40_000;

/** The browser, as the hub uses it. */
export const BROWSER: HubTools = {
  open(url, listener) {
    const end = new AbortController();
    const told = (event: () => void): void => {
      if (!end.signal.aborted) event();
    };
    received(url, end.signal, (name, data) => told(() => listener.event(name, data))).then(
      () => told(() => listener.ended()),
      (error) => told(() => listener.ended(error instanceof Refused ? error : undefined)),
    );
    return () => end.abort();
  },
  read: (url) => read(url),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/**
 * Tells all that comes from `url`, up to its end. An EventSource would do, but for this: it does not say why it failed, so
 * a server that is gone could not be told from one that refuses. @throws Refused; whatever else broke the connection
 */
async function received(url: string, end: AbortSignal, told: StreamListener["event"]): Promise<void> {
  const silent = new AbortController();
  const signal = AbortSignal.any([end, silent.signal]);
  const wait = (): ReturnType<typeof setTimeout> => setTimeout(() => silent.abort(), SILENCE_MS);
  let timer = wait();
  try {
    const response = await fetch(url, { signal, headers: { Accept: "text/event-stream" } });
    if (!response.ok) throw new Refused(response.status, errorIn(await response.text(), response.status));
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    const text = new EventText();
    for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read()) {
      clearTimeout(timer);
      timer = wait();
      for (const { name, data } of text.add(decoder.decode(piece.value, { stream: true })))
        told(name, JSON.parse(data));
    }
  } finally {
    clearTimeout(timer);
  }
}
