import type { Listed } from "./store.ts";

const FIELDS: { readonly [field in keyof Required<Listed>]: true } = {
  agent: true,
  id: true,
  title: true,
  cwd: true,
  branch: true,
  startedAt: true,
  updatedAt: true,
  bytes: true,
  model: true,
  parent: true,
  live: true,
  resume: true,
};

/**
 * A row that nobody can change, with the fields of the contract alone. A row that is one already is given back, so that a
 * store of tens of thousands which makes its rows so holds each only once.
 */
export function frozenRow(row: Listed): Listed {
  if (isFrozenRow(row)) return row;
  return Object.freeze({
    agent: row.agent,
    id: row.id,
    title: row.title,
    cwd: row.cwd,
    ...(row.branch !== undefined && { branch: row.branch }),
    startedAt: row.startedAt,
    updatedAt: row.updatedAt,
    ...(row.bytes !== undefined && { bytes: row.bytes }),
    ...(row.model !== undefined && { model: row.model }),
    ...(row.parent !== undefined && { parent: row.parent }),
    ...(row.live !== undefined && { live: Object.freeze({ ...row.live }) }),
    ...(row.resume !== undefined && {
      resume: Object.freeze({ command: Object.freeze([...row.resume.command]), cwd: row.resume.cwd }),
    }),
  });
}

function isFrozenRow(row: Listed): boolean {
  const parts = [row, row.live, row.resume, row.resume?.command];
  return parts.every((part) => part === undefined || Object.isFrozen(part)) && Object.keys(row).every(isField);
}

function isField(name: string): boolean {
  return Object.hasOwn(FIELDS, name);
}
