import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { jsonOf, withJsonValue } from "../../src/commands/mcp/json-text.ts";
import { tomlTable } from "../../src/commands/mcp/toml-text.ts";

const PATH = ["mcp", "us"] as const;

test("a value is put into a JSON text, and nothing else of it changes", () => {
  const put = (text: string): string => withJsonValue(text, PATH, { a: [1] });
  assert.equal(put("{}"), '{\n  "mcp": {\n    "us": {\n      "a": [\n        1\n      ]\n    }\n  }\n}');
  assert.equal(
    put('{\n\t"x": 1, // last\n\t// more\n}\n'),
    '{\n\t"x": 1, // last\n\t// more\n\t"mcp": {\n\t\t"us": {\n\t\t\t"a": [\n\t\t\t\t1\n\t\t\t]\n\t\t}\n\t}\n}\n',
  );
  assert.equal(
    put('{"mcp": {"other": {} /* kept */}, "z": "\\u00e4"}'),
    '{"mcp": {"other": {}, /* kept */\n  "us": {\n    "a": [\n      1\n    ]\n  }\n}, "z": "\\u00e4"}',
  );
  assert.equal(
    put('{\r\n  "mcp": {\r\n    "us": 7,\r\n    "b": 2\r\n  }\r\n}'),
    '{\r\n  "mcp": {\r\n    "us": {\r\n      "a": [\r\n        1\r\n      ]\r\n    },\r\n    "b": 2\r\n  }\r\n}',
  );
});

test("whatever JSON it is, the value stands in it afterwards and all else is as it was", () => {
  const objects = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
  fc.assert(
    fc.property(
      objects,
      fc.option(objects),
      fc.constantFrom(undefined, 2, "\t"),
      fc.jsonValue(),
      (rest, mcp, indent, value) => {
        const before = { ...rest, ...(mcp && { mcp }) };
        if (!mcp) delete (before as { mcp?: unknown }).mcp;
        const text = withJsonValue(JSON.stringify(before, undefined, indent), PATH, value);
        const expected = { ...before, mcp: { ...mcp, us: value } };
        assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(expected)));
        assert.deepEqual(jsonOf(text), JSON.parse(text));
      },
    ),
  );
});

test("a text that is no JSON, or in which no object stands where one must, is refused", () => {
  for (const text of ["", "{", "[]", "7", '{"a" 1}', '{"a":1}}', "{a:1}", '{"mcp":[]}', '{"mcp":null}', '{"a":"\n"}']) {
    assert.throws(() => withJsonValue(text, PATH, 1), SyntaxError, text);
  }
});

test("a table is found in TOML by its header, however that is written, with what stands in it", () => {
  const found = (text: string) => {
    const table = tomlTable(text, ["mcp_servers", "us"]);
    return table.kind === "table" ? [Object.fromEntries(table.values), text.slice(table.start, table.end)] : table.kind;
  };
  assert.equal(found(""), "absent");
  assert.equal(found('[mcp_servers.other]\nus = "x"\n'), "absent");
  assert.equal(found('x = """\n[mcp_servers.us]\n"""\ny = [\n[1], # ]\n]\n'), "absent");
  assert.equal(found("x = '''\n[mcp_servers.us]'''\n"), "absent");
  assert.deepEqual(
    found('a = 1\n[ mcp_servers . "us" ] # ours\ncommand = "x" # y\nargs = [\n  "a", # b\n]\n\n# next\n[z]\n'),
    [
      { command: '"x"', args: '[\n  "a", # b\n]' },
      '[ mcp_servers . "us" ] # ours\ncommand = "x" # y\nargs = [\n  "a", # b\n]',
    ],
  );
  assert.deepEqual(found("[mcp_servers.us]\r\nenv.A = 'b'\r\n[mcp_servers.us.tools]\r\n"), [
    { "env.A": "'b'" },
    "[mcp_servers.us]\r\nenv.A = 'b'",
  ]);
});

test("one that is written in another way is told, and what can't be followed is refused", () => {
  for (const text of [
    'mcp_servers.us.command = "x"',
    'mcp_servers = { us = { command = "x" } }',
    "[mcp_servers]\nus = {}",
    "[mcp_servers.us.env]\nA = 'b'",
    "[mcp_servers.us]\n[mcp_servers.us]",
  ]) {
    assert.equal(tomlTable(text, ["mcp_servers", "us"]).kind, "other", text);
  }
  for (const text of ["[a", "x", "x = [", 'x = "', "= 1", "[a]]]\n="]) {
    assert.throws(() => tomlTable(text, ["mcp_servers", "us"]), SyntaxError, text);
  }
});
