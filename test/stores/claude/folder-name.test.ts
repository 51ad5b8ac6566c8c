import assert from "node:assert/strict";
import { test } from "node:test";
import { homeOf, isFolderOf } from "../../../src/stores/claude/folder-name.ts";

const deep = `/home/${"d".repeat(250)}`;

const TABLE: readonly (readonly [string, string, NodeJS.Platform, boolean])[] = [
  ["/home/dev/w2/emoji😀dir", "-home-dev-w2-emoji--dir", "linux", true],
  ["/home/dev/w2/プロジェクト-é", "-home-dev-w2---------", "linux", true],
  ["/home/dev/w2/e\u0301", "-home-dev-w2--", "linux", true],
  ["C:\\git\\cc-plus", "C--git-cc-plus", "win32", true],
  ["c:\\git\\cc-plus", "C--git-cc-plus", "win32", true],
  ["/a/B", "-a-b", "linux", false],
  ["/a.b_c d", "-a-b-c-d", "linux", true],
  [deep, `-home-${"d".repeat(194)}-1x2y3z`, "linux", true],
  [deep, `-home-${"d".repeat(194)}`, "linux", false],
  [deep, `-home-${"e".repeat(194)}-1x2y3z`, "linux", false],
];

for (const [cwd, name, platform, is] of TABLE) {
  test(`${cwd.slice(0, 40)} ${is ? "is" : "is not"} kept in ${name.slice(0, 30)}`, () => {
    assert.equal(isFolderOf(name, cwd, platform), is);
  });
}

test("a session's home is the folder itself before one above it, and none when no name fits", () => {
  assert.equal(homeOf("-a-b", ["/a/b/c", "/a-b"], "linux"), "/a-b");
  assert.equal(homeOf("-a-b", ["/a/b/c"], "linux"), "/a/b");
  assert.equal(homeOf("-z", ["/a/b/c"], "linux"), undefined);
});
