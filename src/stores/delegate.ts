import type { Cursor } from "../transcript/cursor.ts";
import type { Entry } from "../transcript/entry.ts";
import type { AgentName, SessionId } from "../transcript/names.ts";
import type {
  Budget,
  Change,
  ChildList,
  EntryPage,
  EntryPageBefore,
  FarCall,
  ListEffort,
  Listed,
  LiveProof,
  SessionRef,
  Store,
  StoreReport,
  Totals,
} from "./store.ts";

/** A store that answers what another answers, until a method is overridden. */
export class DelegatingStore implements Store {
  protected readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }

  get agent(): AgentName {
    return this.store.agent;
  }

  list(effort: ListEffort, signal?: AbortSignal): Promise<readonly Listed[]> {
    return this.store.list(effort, signal);
  }

  find(id: SessionId): Promise<SessionRef | undefined> {
    return this.store.find(id);
  }

  async unlisted(ref: SessionRef): Promise<Listed | undefined> {
    return this.store.unlisted?.(ref);
  }

  entries(ref: SessionRef, from: Cursor, budget: Budget): Promise<EntryPage> {
    return this.store.entries(ref, from, budget);
  }

  before(ref: SessionRef, before: Cursor | "tail", budget: Budget): Promise<EntryPageBefore> {
    return this.store.before(ref, before, budget);
  }

  record(ref: SessionRef, pos: Cursor, mostBytes?: number): Promise<readonly Entry[]> {
    return this.store.record(ref, pos, mostBytes);
  }

  async farCalls(ref: SessionRef): Promise<ReadonlyMap<Cursor, FarCall>> {
    return (await this.store.farCalls?.(ref)) ?? new Map();
  }

  async farCall(ref: SessionRef, pos: Cursor, mostBytes: number): Promise<Entry | undefined> {
    return this.store.farCall?.(ref, pos, mostBytes);
  }

  children(ref: SessionRef, most?: number): Promise<ChildList> {
    return this.store.children(ref, most);
  }

  child(ref: SessionRef, id: SessionId): Promise<SessionRef | undefined> {
    return this.store.child(ref, id);
  }

  totals(ref: SessionRef): Promise<Totals | undefined> {
    return this.store.totals(ref);
  }

  watch(ref: SessionRef, signal: AbortSignal): AsyncIterable<void> {
    return this.store.watch(ref, signal);
  }

  changes(signal: AbortSignal): AsyncIterable<Change> {
    return this.store.changes(signal);
  }

  live(): Promise<readonly LiveProof[]> {
    return this.store.live();
  }

  report(): Promise<StoreReport> {
    return this.store.report();
  }
}
