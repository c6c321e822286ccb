/** The page's style sheet. */
export const pageCss = `
:root {
  color-scheme: light dark;
  --ground: #eef1ee;
  --panel: #ffffff;
  --screen: #f4f7f5;
  --bubble: #ffffff;
  --ink: #16211c;
  --soft: #526159;
  --line: #d8dfda;
  --edge: #7d8b84;
  --accent: #0b6b4f;
  --accent-ink: #ffffff;
  --fresh: #d9f2e6;
  --fresh-line: #3c9c78;
  --warn: #9a5b00;
  --code: #17221d;
  --code-ink: #e4f1ea;
  --shade: 0 1px 2px rgb(22 33 28 / 6%), 0 8px 24px rgb(22 33 28 / 7%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0d1210;
    --panel: #171e1b;
    --screen: #101613;
    --bubble: #212b26;
    --ink: #e9f0ec;
    --soft: #a2b1a9;
    --line: #2b3731;
  --edge: #6c7b73;
    --accent: #6fd6ae;
    --accent-ink: #08251a;
    --fresh: #17402f;
    --fresh-line: #4fae88;
    --warn: #f0b35e;
    --code: #080c0a;
    --code-ink: #d5e7dd;
    --shade: 0 1px 2px rgb(0 0 0 / 40%), 0 8px 24px rgb(0 0 0 / 25%);
  }
}

* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto;
  max-width: 90rem;
  min-height: 100vh;
  display: flex;
  flex-direction: column;
  padding: 0 clamp(1rem, 3vw, 2.5rem);
  background: var(--ground);
  color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
}
h1, h2, h3, p, ol, ul, dl, dd { margin: 0; padding: 0; }
ol, ul { list-style: none; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.unseen {
  position: absolute; width: 1px; height: 1px; margin: -1px;
  overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
.skip { position: absolute; left: -100rem; top: .5rem; z-index: 2; padding: .5rem 1rem; border-radius: .5rem; background: var(--accent); color: var(--accent-ink); }
.skip:focus { left: 1rem; }

/* Head of the page */
.top {
  display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: end; justify-content: space-between;
  padding: clamp(1.25rem, 3vw, 2.25rem) 0 1.25rem;
}
.brand { display: flex; gap: .875rem; align-items: center; flex: 1 1 20rem; min-width: 0; }
.mark { flex: none; width: 2.75rem; height: 2.75rem; }
.mark rect { fill: var(--accent); }
.mark path { fill: var(--accent-ink); }
h1 { font-size: clamp(1.375rem, 1.1rem + 1.2vw, 1.75rem); line-height: 1.15; letter-spacing: -.02em; font-weight: 700; text-wrap: balance; }
.lead { color: var(--soft); font-size: .9375rem; line-height: 1.4; margin-top: .25rem; }
.tools { display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: end; }
.filter, .scan label { display: grid; gap: .25rem; font-size: .8125rem; font-weight: 600; color: var(--soft); }
.filter input, .scan input {
  width: 15rem; max-width: 100%; min-height: 2.75rem; padding: .5rem .875rem;
  border: 1px solid var(--edge); border-radius: .75rem; background: var(--panel); color: var(--ink);
  font: inherit; font-size: 1rem; font-weight: 400; font-variant-numeric: tabular-nums;
}
.filter input::placeholder { color: var(--soft); opacity: 1; }
.state {
  display: inline-flex; gap: .5rem; align-items: center; min-height: 2.75rem; padding: 0 1rem;
  border: 1px solid var(--line); border-radius: 2rem; background: var(--panel);
  font-size: .875rem; font-weight: 600; white-space: nowrap;
}
.state::before { content: ""; width: .5625rem; height: .5625rem; border-radius: 50%; background: var(--soft); }
.state[data-state="live"]::before { background: var(--fresh-line); box-shadow: 0 0 0 4px color-mix(in srgb, var(--fresh-line) 22%, transparent); }
.state[data-state="lost"] { color: var(--warn); }
.state[data-state="lost"]::before { background: var(--warn); }

main { flex: 1; }
.summary { min-height: 1.5em; margin-bottom: .75rem; color: var(--soft); font-size: .875rem; font-variant-numeric: tabular-nums; }

/* Phones */
.phones { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); gap: 1.25rem; }
.phone {
  display: flex; flex-direction: column; height: 25rem; overflow: hidden;
  border: 1px solid var(--line); border-radius: 1.75rem; background: var(--panel); box-shadow: var(--shade);
  transition: border-color .3s;
}
.phone.unread { border-color: var(--fresh-line); }
.phone header { display: flex; gap: .75rem; align-items: center; padding: 1rem 1.125rem .875rem 1.25rem; }
.phone h2 { flex: 1; min-width: 0; font-size: 1.0625rem; line-height: 1.25; font-weight: 650; letter-spacing: .01em; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.phone h2 small { display: block; font-size: .8125rem; font-weight: 400; letter-spacing: 0; color: var(--soft); }
.new { flex: none; padding: .1875rem .625rem; border-radius: 1rem; background: var(--accent); color: var(--accent-ink); font-size: .75rem; font-weight: 700; line-height: 1.4; }
.screen {
  flex: 1; min-height: 0; margin: 0 .5rem .5rem; padding: .875rem; overflow-y: auto; overscroll-behavior: contain;
  border-radius: 1.25rem; background: var(--screen); scrollbar-width: thin; scrollbar-color: var(--line) transparent;
}
.screen:focus-visible { outline-offset: -3px; }
.messages { display: grid; gap: .875rem; }
.day { justify-self: center; font-size: .75rem; font-weight: 600; color: var(--soft); }
.day::first-letter { text-transform: uppercase; }
.message { max-width: 94%; justify-self: start; }
.from { display: block; margin: 0 0 .1875rem .75rem; font-size: .8125rem; font-weight: 650; overflow-wrap: anywhere; }
.bubble {
  width: fit-content; max-width: 100%; padding: .5625rem .875rem .625rem; border: 1px solid var(--line); border-radius: .375rem 1.125rem 1.125rem 1.125rem;
  background: var(--bubble); font-size: .9375rem; line-height: 1.45; transition: background-color 1.2s, border-color 1.2s;
}
.text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.media { font-size: .8125rem; color: var(--soft); overflow-wrap: anywhere; }
.media + .text:not(:empty) { margin-top: .375rem; }
.foot { display: flex; gap: .5rem; align-items: center; margin: .25rem 0 0 .75rem; font-size: .75rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.channel { padding: 0 .4375rem; border: 1px solid var(--line); border-radius: .375rem; font-size: .6875rem; font-weight: 650; letter-spacing: .04em; line-height: 1.5; overflow-wrap: anywhere; }
.fresh .bubble { background: var(--fresh); border-color: var(--fresh-line); animation: arrive .35s ease-out; }
@keyframes arrive { from { opacity: 0; transform: translateY(.5rem); } }

/* Codes to scan */
.codes { margin-bottom: 1.5rem; }
.codes h2 { font-size: 1.125rem; line-height: 1.25; letter-spacing: -.01em; }
.code-list { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(25rem, 100%), 1fr)); gap: 1.25rem; margin-top: .75rem; }
.code.card { display: flex; flex-wrap: wrap; gap: 1rem 1.25rem; padding: 1.125rem; align-items: center; }
.qr { width: 10.5rem; height: 10.5rem; border-radius: 1rem; background: #fff; image-rendering: pixelated; }
.scan { flex: 1 1 11rem; min-width: 0; display: grid; gap: .75rem; }
.scan h3 { font-size: 1rem; line-height: 1.25; overflow-wrap: anywhere; }
.scan input { width: 100%; }
.scan .copy { margin: 0; }
.copy:disabled { opacity: .6; cursor: progress; }
.says { min-height: 1.5em; color: var(--warn); font-size: .875rem; }

/* Nothing yet */
.card { padding: clamp(1.25rem, 4vw, 2.5rem); border: 1px solid var(--line); border-radius: 1.75rem; background: var(--panel); box-shadow: var(--shade); }
.empty { max-width: 56rem; margin: clamp(.5rem, 5vh, 4rem) auto 0; }
.empty h2 { font-size: 1.375rem; line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; }
.empty p { margin-top: .5rem; color: var(--soft); max-width: 62ch; }
.shell { position: relative; margin-top: 1.25rem; }
.shell pre {
  margin: 0; padding: 1.125rem 1.25rem; border-radius: 1rem; overflow-x: auto; background: var(--code); color: var(--code-ink);
  font: .875rem/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; tab-size: 2;
}
.copy {
  margin-top: .875rem; min-height: 2.75rem; padding: .5rem 1.25rem; border: 0; border-radius: .75rem; background: var(--accent); color: var(--accent-ink);
  font: inherit; font-weight: 650; cursor: pointer;
}
.none { padding: 2rem 0; color: var(--soft); }

/* Foot of the page */
.about { margin-top: 2.5rem; padding: 1rem 0 2rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .875rem; }
.about summary { width: fit-content; padding: .375rem 0; font-weight: 600; color: var(--ink); cursor: pointer; }
.magic { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin-top: .5rem; }
.magic dt { font-variant-numeric: tabular-nums; font-weight: 600; color: var(--ink); }
.warning { margin-top: .75rem; max-width: 80ch; }

@media (max-width: 40rem) {
  .tools { width: 100%; }
  .filter { flex: 1 1 12rem; }
  .filter input { width: 100%; }
  .phone { height: auto; min-height: 12rem; max-height: 26rem; }
  .shell pre { white-space: pre-wrap; overflow-wrap: anywhere; }
}
@media (prefers-reduced-motion: reduce) {
  * { animation: none !important; transition: none !important; }
}
@media (forced-colors: active) {
  .fresh .bubble { border-width: 2px; }
}
`;
