import "./platform/node-version.ts";

process.stdout.write(`${process.argv.slice(2).join(" ")}\n`);
