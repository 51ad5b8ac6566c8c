const BYTE_ORDER_MARK = /^\ufeff/;

/** Where a further record may begin on a line that holds more than one: what every known writer begins a record with. */
const RECORD_STARTS = ['{"parentUuid"', '{"type"', '{"timestamp"', '{"seq"'];

/**
 * The records of one line. Mostly one; none where the line is broken; several where a crash glued a record to the rest
 * of an older one (seen in Claude Code's files, also with runs of NUL bytes between). Never throws.
 */
export function parseRecords(line: Buffer): unknown[] {
  const text = line.toString();
  const record = parse(text);
  return record === undefined ? salvageDamaged(text) : [record];
}

/** What is no JSON may be so for a byte-order mark or NUL bytes alone; damaged UTF-8 has become U+FFFD. */
function salvageDamaged(damaged: string): unknown[] {
  const text = damaged.replace(BYTE_ORDER_MARK, "").replaceAll("\0", "");
  if (text.trim() === "") return [];
  const record = text === damaged ? undefined : parse(text);
  return record === undefined ? salvage(text) : [record];
}

/** The records that can be read on a line that is not one: whole from a record's usual start to the next such start. */
function salvage(text: string): unknown[] {
  const starts = RECORD_STARTS.flatMap((start) => placesOf(text, start)).sort((a, b) => a - b);
  const records: unknown[] = [];
  for (let i = 0; i < starts.length; i++) {
    for (const end of [text.length, ...starts.slice(i + 1, i + 4).reverse()]) {
      const record = parse(text.slice(starts[i], end));
      if (record === undefined) continue;
      records.push(record);
      while ((starts[i + 1] ?? end) < end) i++;
      break;
    }
  }
  return records;
}

/** At most this many places are tried, so that a long broken line stays cheap. */
const MOST_PLACES = 16;

function placesOf(text: string, start: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(start); at >= 0 && places.length < MOST_PLACES; at = text.indexOf(start, at + 1)) {
    places.push(at);
  }
  return places;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
