// Imported first by main.ts, so that this check runs before anything that an older Node lacks is touched.

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 15)) {
  process.stderr.write(
    `agent-bridge needs Node.js 22.15 or newer, and this is ${process.versions.node}: install a newer one from your package manager or nodejs.org\n`,
  );
  process.exit(1);
}
