export function sqlite(): typeof import("node:sqlite") {
  return process.getBuiltinModule("node:sqlite");
}
