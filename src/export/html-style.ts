/**
 * How the page looks. Texts wrap wherever they must, so that the page never scrolls sideways (a wide table does, inside); the line of an
 * unfolded call or output stays in sight, so that it can be folded again from anywhere in it.
 */
export const STYLE = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1d2127;--dim:#57606a;--edge:#d6dbe1;--soft:#f5f6f8;--link:#0a58ca;--user:#0a58ca;--user-bg:#edf4fe;--agent:#7a3fb5;--bad:#b3261e;--bad-bg:#fdf0ef;--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
@media screen and (prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#dfe3e8;--dim:#9aa4af;--edge:#343a42;--soft:#1d2126;--link:#82b6ff;--user:#82b6ff;--user-bg:#18263a;--agent:#cfa6f5;--bad:#ff9c93;--bad-bg:#2f1a19}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0 auto;max-width:54rem;padding:2.5rem 1.5rem 4rem;background:var(--bg);color:var(--fg);font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
h1{margin:0 0 1rem;font-size:1.75rem;line-height:1.25;font-weight:650;letter-spacing:-.01em}
a{color:var(--link)}
:focus-visible{outline:2px solid var(--link);outline-offset:-2px;border-radius:4px}
time,.note{color:var(--dim);font-size:.8125rem;font-variant-numeric:tabular-nums}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:.75rem 1.5rem;margin:0;padding:1.25rem 0;border:solid var(--edge);border-width:1px 0;font-size:.9375rem}
.facts dt{color:var(--dim);font-size:.8125rem}
.facts dd{margin:0}
.facts time{color:inherit;font-size:inherit}
main{padding-top:1rem}
.message{margin-top:1.75rem}
.role{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 .75rem;margin-bottom:.25rem}
.role :is(h2,h3,h4,h5,h6){margin:0;font-size:.9375rem;font-weight:650}
.role time{margin-inline-start:auto}
.user{padding:.75rem 1rem .875rem;background:var(--user-bg);border-inline-start:3px solid var(--user);border-radius:6px}
.user>.role>:first-child{color:var(--user)}
.assistant>.role>:first-child{color:var(--agent)}
.text{white-space:pre-wrap;unicode-bidi:plaintext}
pre,code{font-family:var(--mono);font-size:.8125rem;line-height:1.5}
pre{margin:.5rem 0 0;padding:.75rem .875rem;background:var(--soft);border-radius:6px;white-space:pre-wrap;tab-size:4;unicode-bidi:plaintext;text-align:start}
.tool{margin-top:.375rem}
:is(.event,.user)+.tool{margin-top:1.25rem}
.tool+.assistant{margin-top:1.25rem}
.fold{margin-top:.375rem;border:1px solid var(--edge);border-radius:6px;font-size:.9375rem}
.fold>:not(.line){margin-inline:.875rem}
.fold>:last-child:not(.line){margin-bottom:.875rem}
.fold>.message:nth-child(2){margin-top:.25rem}
.message+.fold,.fold+.message:not(.tool){margin-top:1.75rem}
.line{padding:.4375rem .875rem;border-radius:6px;background:var(--bg)}
summary.line{cursor:pointer;list-style:none}
summary.line::-webkit-details-marker{display:none}
summary.line::before{content:"";display:inline-block;width:.375rem;height:.375rem;margin-inline-end:.625rem;border:solid var(--dim);border-width:0 1.5px 1.5px 0;transform:translateY(-.125rem) rotate(-45deg)}
[open]>summary.line::before{transform:translateY(-.1875rem) rotate(45deg)}
summary.line:hover{background:var(--soft)}
:is(.call,.output)[open]>.line{position:sticky;top:0}
.line :is(h2,h3,h4,h5,h6){display:inline;font:inherit}
.output[open]>.line .brief{display:none}
.line b{font-weight:600}
.line .brief,.line .kind,.line time{color:var(--dim);font-size:.8125rem}
.line .brief{font-family:var(--mono)}
.line time{float:inline-end;margin-inline-start:.75rem;line-height:1.5rem}
.bad{border-color:var(--bad)}
.bad>.line,.bad>.line .kind{color:var(--bad)}
.bad>.line{background:var(--bad-bg)}
.field{margin:.5rem 0 -.25rem;color:var(--dim);font-size:.8125rem}
.event{color:var(--dim);text-align:center;font-size:.875rem}
.event .role{justify-content:center}
.event .role time{margin:0}
.event pre{color:var(--fg);text-align:start}
.event.bad{padding:.75rem 1rem;text-align:start;background:var(--bad-bg);border-inline-start:3px solid var(--bad);border-radius:6px}
.bad>.role{justify-content:start}
.bad pre{background:none;padding:0}
.bad>.role>:first-child{color:var(--bad)}
.inner>:first-child{margin-top:.5rem}
.agent{border-inline-start-width:3px}
.undone{border-style:dashed}
.fold+:is(.md,.text),:is(.md,.text)+.fold{margin-top:.625rem}
.md{overflow-x:auto}
.md>:first-child{margin-top:0}
.md>:last-child{margin-bottom:0}
.md :is(p,ul,ol,blockquote,table){margin:.625rem 0}
.md :is(h1,h2,h3,h4,h5,h6){margin:1.25rem 0 .5rem;font-size:1.0625rem;line-height:1.35;font-weight:650}
.md :is(p,li,h1,h2,h3,h4,h5,h6,th,td){unicode-bidi:plaintext;text-align:start}
.md :is(ul,ol){padding-inline-start:1.5rem}
.md li>:is(p,ul,ol){margin:.25rem 0}
.md li:has(>input,>p>input){list-style:none;margin-inline-start:-1.5rem}
.md blockquote{padding-inline-start:1rem;border-inline-start:3px solid var(--edge);color:var(--dim);margin-inline:0}
.md :not(pre)>code{padding:.125rem .3125rem;background:var(--soft);border-radius:4px;font-size:.875em}
.md table{border-collapse:collapse;font-size:.9375rem;max-width:100%}
.md :is(th,td){padding:.3125rem .625rem;border:1px solid var(--edge);vertical-align:top}
.md th{background:var(--soft)}
.md hr{margin:1.25rem 0;border:0;border-top:1px solid var(--edge)}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--edge);color:var(--dim);font-size:.8125rem}
@media (max-width:40rem){body{padding:1.25rem 1rem 3rem}h1{font-size:1.375rem}.fold>:not(.line){margin-inline:.5rem}.facts{grid-template-columns:repeat(auto-fill,minmax(9rem,1fr))}}
@media print{:root{color-scheme:light;font-size:10pt}body{max-width:none;padding:0}:is(.call,.output)[open]>.line{position:static}.role,.line{break-after:avoid}}
`;
