import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { jsonOf, strictJsonOf, withJsonValue } from "../../src/commands/mcp/json-text.ts";
import { tomlOf, withTomlTable } from "../../src/commands/mcp/toml-entry.ts";

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

test("a strict JSON text holds no comment and no comma behind the last", () => {
  for (const text of ['{"a":1,}', '{"a":[1,]}', '{"a":1} // x', "{/* */}"]) {
    assert.throws(() => strictJsonOf(text), /line 1 is no JSON/, text);
    assert.ok(jsonOf(text));
  }
  assert.deepEqual(strictJsonOf('\ufeff{"a": [1, {}]}\n'), { a: [1, {}] });
});

const plain = (text: string): unknown => JSON.parse(JSON.stringify(tomlOf(text)));

test("TOML is read with all its ways to write a text, a list and a table", () => {
  assert.deepEqual(
    plain(
      'a."b c".d = "x\\u00e4\\n\\"" # no\n\'e.f\' = [ \'\\n\', # one\n "", ]\ng = """\n[x]\\\n   y"""\nh = {i.j = "1", k = {}}\n[[l]]\nm = \'\'\'\n[n]\'\'\'\n[l.o]\n[[l]]\n[ p . "q" ]\r\nr = "s"\r\n[p]\n',
    ),
    {
      a: { "b c": { d: 'xä\n"' } },
      "e.f": ["\\n", ""],
      g: "[x]y",
      h: { i: { j: "1" }, k: {} },
      l: [{ m: "[n]", o: {} }, {}],
      p: { q: { r: "s" } },
    },
  );
  const scalars = "[true, -1_0, 0xDEAD_beef, +inf, 1e-5, 1979-05-27 07:32:00Z, 1979-05-27T00:32:00.5-07:00, 07:32:00]";
  assert.equal((plain(`a = ${scalars}`) as { a: unknown[] }).a.length, 8);
});

test("TOML that says something twice, or that can't be followed, is refused", () => {
  for (const text of [
    ...["[a]\n[a]", "a = 1\na = 2", "[a.b]\n[a.b]", "a.b = 1\n[a]", "[a]\nb.c = 1\n[a.b]", "a = {}\n[a.b]"],
    ...["a = {}\na.b = 1", "[[a]]\n[a]", "[a]\n[[a]]", "a = {b = 1, b = 2}", "a = 1\n[a.b]", "[a.b]\n[a]\nb.c = 1"],
  ]) {
    assert.throws(() => tomlOf(text), /is given twice/, text);
  }
  for (const text of [
    "[a",
    "x",
    "x = [",
    'x = "',
    "= 1",
    "[a]]]\n=",
    "a = b",
    "a = 1 2",
    'a = "\\q"',
    "a = 1\n[a b]",
  ]) {
    assert.throws(() => tomlOf(text), /line \d is no TOML/, text);
  }
});

test("a table takes the place of all that was said of it in TOML, wherever that stood", () => {
  const put = (text: string): string => withTomlTable(text, ["m", "us"], ["[m.us]", 'c = "new"']);
  assert.equal(put(""), '[m.us]\nc = "new"\n');
  assert.equal(put("a = 1\r\n"), 'a = 1\r\n\r\n[m.us]\r\nc = "new"\r\n');
  assert.equal(put("a = 1\n# end"), 'a = 1\n# end\n\n[m.us]\nc = "new"\n');
  assert.equal(
    put('# top\n[m.us]\nc = "old" # gone\n\n# about env\n[m.us.env]\nA = "b"\n\n# about z\n[z]\nq = 1\n'),
    '# top\n[m.us]\nc = "new"\n\n# about env\n\n# about z\n[z]\nq = 1\n',
  );
  assert.equal(
    put('[m.us.env]\nA = "b"\n[m.other]\nc = "o"\n[ m . "us" ]\nc = """\n[z]\n"""\n[end]'),
    '[m.us]\nc = "new"\n[m.other]\nc = "o"\n[end]',
  );
  assert.equal(put('m.us.c = "y"\nm.us.args = []\nz = 1\n'), 'z = 1\n\n[m.us]\nc = "new"\n');
  assert.equal(put('[m]\nus = { c = "y" }\nb = {}\n'), '[m]\nb = {}\n\n[m.us]\nc = "new"\n');
});

test("whatever of a table stood in TOML, in whatever order, only what was put is there afterwards", () => {
  const ours = [
    ...["[m.us]\nc = 'x'\nenv2.A = 'b'\n", "[m.us.env]\nA = 'b'\n", '[m."us".http_headers]\n'],
    "[m.us.tools.'a b']\nq = 1\n",
  ];
  const others = [
    ...["[m.other]\nc = [\n1, # [m.us]\n]\n", "# note\n[[list]]\nx = 1\n", "[[list]]\n"],
    "[z]\nnote = '''\n[m.us]\n'''\n",
  ];
  fc.assert(
    fc.property(fc.shuffledSubarray([...ours, ...others]), (parts) => {
      const { m, ...rest } = plain(parts.filter((part) => others.includes(part)).join("")) as { m?: object };
      const put = withTomlTable(parts.join(""), ["m", "us"], ["[m.us]", 'c = "new"']);
      assert.deepEqual(plain(put), { ...rest, m: { ...m, us: { c: "new" } } });
    }),
  );
});
