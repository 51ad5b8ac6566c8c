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

/** How every known writer begins a record, in the bytes that hold no more than that. */
const USUAL_BYTES = 160;
const USUAL = /^\{(?:"timestamp":"[^"\\]*",)?(?:"ordinal":(\d+),)?"type":"([a-z_]+)","payload":\{"type":"([A-Za-z_]+)"/;

/**
 * Looks at the first bytes of `line`. Only what surely stands at its place is told: keys of an envelope come in any
 * order, so a type behind `"payload"` is not taken for the record's own, and a field that is not found is undefined.
 */
export function glanceAt(line: Buffer): Glance {
  const usual = USUAL.exec(latin1(line, USUAL_BYTES));
  if (usual === null) return closerLook(line);
  const [, ordinal, type, inner] = usual;
  const detailed = inner === "message" || inner === "item_completed";
  const { item, role } = detailed ? detailsOf(latin1(line, GLANCE_BYTES), inner) : NOTHING;
  return { type, inner, item, role, ordinal: ordinal === undefined ? undefined : Number(ordinal) };
}

const NOTHING: Pick<Glance, "item" | "role"> = {};

function closerLook(line: Buffer): Glance {
  const head = latin1(line, GLANCE_BYTES);
  const payload = head.indexOf('"payload"');
  const type = TYPE.exec(payload < 0 ? head : head.slice(0, payload))?.[1];
  if (type === undefined) return {};
  const ordinal = ORDINAL.exec(head)?.[1];
  const inner = payload < 0 ? type : INNER.exec(head.slice(payload))?.[1];
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

function latin1(line: Buffer, most: number): string {
  return line.toString("latin1", 0, Math.min(line.length, most));
}
