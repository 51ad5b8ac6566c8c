import { latin1Head } from "../../jsonl/text.ts";

/** What the first bytes of a record tell of it, so that most records need no parse. */
export interface Glance {
  /** Its type; undefined for a flat record without one (or one whose first bytes tell nothing). */
  readonly type?: string;
  /** The payload's type. */
  readonly inner?: string;
  /** The type of the item of an `item_completed`. */
  readonly item?: string;
  readonly role?: string;
  readonly ordinal?: number;
}

/** The longest prefix that writers have been seen to put before what is looked for. */
const GLANCE_BYTES = 640;

const TYPE = /"type":\s*"([a-z_]+)"/;
const INNER = /"payload":\s*\{[^{}[\]]*?"type":\s*"([A-Za-z_]+)"/;
const ITEM = /"item":\s*\{[^{}[\]]*?"type":\s*"([A-Za-z]+)"/;
const ROLE = /"role":\s*"([a-z]+)"/;
const ORDINAL = /^[^{]*\{(?:"timestamp":\s*"[^"]*",\s*)?"ordinal":\s*(\d+)/;

/** Bytes in which nearly every record tells its type and its payload's. */
const USUAL_BYTES = 144;

/**
 * Looks at the first bytes of `line`. Only what surely stands at its place is told: keys of an envelope come in any
 * order, so a type behind `"payload"` is not taken for the record's own, and a field that is not found is undefined.
 */
export function glanceAt(line: Buffer): Glance {
  return usualGlance(line) ?? closerLook(line);
}

const START = '{"timestamp":"';
const ORDINAL_KEY = ',"ordinal":';
const EVENT = ',"type":"event_msg","payload":{"type":"';
const ITEM_START = ',"type":"response_item","payload":{"type":"';
const TYPE_KEY = ',"type":"';
/** Records whose type says all that is looked for. */
const WITHOUT_INNER = ["token_usage_record", "turn_context", "session_meta", "world_state"];

/** A record as every known writer begins it: `{"timestamp":"…"[,"ordinal":n],"type":"…","payload":{"type":"…"`. */
function usualGlance(line: Buffer): Glance | undefined {
  const head = latin1Head(line, USUAL_BYTES);
  if (!head.startsWith(START)) return undefined;
  let at = head.indexOf('"', START.length) + 1;
  let ordinal: number | undefined;
  if (head.startsWith(ORDINAL_KEY, at)) {
    const end = head.indexOf(",", at + 1);
    ordinal = Number(head.slice(at + ORDINAL_KEY.length, end));
    at = end;
  }
  if (at <= 0) return undefined;
  if (head.startsWith(ITEM_START, at)) return usualInner(line, head, "response_item", at + ITEM_START.length, ordinal);
  if (head.startsWith(EVENT, at)) return usualInner(line, head, "event_msg", at + EVENT.length, ordinal);
  if (!head.startsWith(TYPE_KEY, at)) return undefined;
  const type = WITHOUT_INNER.find((name) => head.startsWith(`${name}","payload":{`, at + TYPE_KEY.length));
  return type === undefined ? undefined : { type, inner: undefined, item: undefined, role: undefined, ordinal };
}

function usualInner(
  line: Buffer,
  head: string,
  type: string,
  start: number,
  ordinal: number | undefined,
): Glance | undefined {
  const end = head.indexOf('"', start);
  if (end < 0) return undefined;
  const inner = head.slice(start, end);
  if (inner !== "message" && inner !== "item_completed")
    return { type, inner, item: undefined, role: undefined, ordinal };
  const { item, role } = detailsOf(latin1Head(line, GLANCE_BYTES), inner);
  return { type, inner, item, role, ordinal };
}

const NOTHING: Pick<Glance, "item" | "role"> = {};

const ENVELOPES = new Set(["response_item", "event_msg"]);

function closerLook(line: Buffer): Glance {
  const head = latin1Head(line, GLANCE_BYTES);
  const payload = head.indexOf('"payload"');
  const type = TYPE.exec(payload < 0 ? head : head.slice(0, payload))?.[1];
  if (type === undefined) return {};
  const ordinal = ORDINAL.exec(head)?.[1];
  // Without a payload a record is flat, or its payload stands too far behind to be looked at.
  const flat = ENVELOPES.has(type) ? undefined : type;
  const inner = payload < 0 ? flat : INNER.exec(head.slice(payload))?.[1];
  const details = detailsOf(payload < 0 ? head : head.slice(payload), inner);
  return { type, inner, ...details, ordinal: ordinal === undefined ? undefined : Number(ordinal) };
}

function detailsOf(body: string, inner: string | undefined): Pick<Glance, "item" | "role"> {
  if (inner === "item_completed") return { item: ITEM.exec(body)?.[1] };
  if (inner !== "message") return NOTHING;
  // A message's role stands before its content; behind it, it may be anyone's text.
  const content = body.indexOf('"content"');
  return { role: ROLE.exec(content < 0 ? body : body.slice(0, content))?.[1] };
}
