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

/**
 * Looks at the first bytes of `line`. Only what surely stands at its place is told: keys of an envelope come in any
 * order, so a type behind `"payload"` is not taken for the record's own, and a field that is not found is undefined.
 */
export function glanceAt(line: Uint8Array): Glance {
  const head = Buffer.from(line.buffer, line.byteOffset, Math.min(line.length, GLANCE_BYTES)).toString("latin1");
  const payload = head.indexOf('"payload"');
  const type = TYPE.exec(payload < 0 ? head : head.slice(0, payload))?.[1];
  if (type === undefined) return {};
  const ordinal = ORDINAL.exec(head)?.[1];
  const body = payload < 0 ? head : head.slice(payload);
  const inner = payload < 0 ? type : INNER.exec(body)?.[1];
  // A message's role stands before its content; behind it, it may be anyone's text.
  const content = body.indexOf('"content"');
  const role = inner === "message" ? ROLE.exec(content < 0 ? body : body.slice(0, content))?.[1] : undefined;
  const item = inner === "item_completed" ? ITEM.exec(body)?.[1] : undefined;
  return {
    type,
    ...(inner !== undefined && { inner }),
    ...(item !== undefined && { item }),
    ...(role !== undefined && { role }),
    ...(ordinal !== undefined && { ordinal: Number(ordinal) }),
  };
}
