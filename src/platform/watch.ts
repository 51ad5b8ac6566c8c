/**
 * Watches files and folders for whoever asks, with one system watch for all that ask for the same path. Where the system
 * can't watch (or is found to have missed a change), it asks every 250 ms instead.
 */
export interface Watcher {
  /** Yields when the file at `path` may have changed (also when it vanishes or is replaced); ends with the signal. */
  file(path: string, signal: AbortSignal): AsyncIterable<void>;
  /** Yields the name that changed in the folder at `path`, or undefined when it is not told; ends with the signal. */
  folder(path: string, signal: AbortSignal): AsyncIterable<string | undefined>;
}
