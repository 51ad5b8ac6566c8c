/** A command line for a POSIX shell that runs `command` in the folder `cwd` (where that is known). */
export function commandLine(command: readonly string[], cwd = ""): string {
  const words = command.map(shellWord).join(" ");
  return cwd === "" ? words : `cd ${shellWord(cwd)} && ${words}`;
}

/** `text` as one word of a shell, quoted only where it must be. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
