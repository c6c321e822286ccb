import { load, sqliteUrl, startTarget, type Target } from '../target.js';
import { median } from '../versus.js';

/** The costs of large sends, and their effect on other requests. */
export interface LargeSends {
  /** The milliseconds per 1000 recipients, as the median of some sends. */
  readonly per1000At10k: number;
  readonly per1000At100k: number;
  /** Peak resident memory of the server, in bytes. */
  readonly memory: number;
  /** The 99th percentile of balance look-ups during large sends, in milliseconds. */
  readonly othersP99: number;
}

/** Measures one send to 10 000 and one to 100 000 recipients, in turns, while others read their balance. */
export async function benchLarge(rounds: number): Promise<LargeSends> {
  const place = sqliteUrl();
  const target = await startTarget({ kind: 'ours', adapter: 'express', url: place.url, dispatch: false });
  const small = bodyFor(10_000);
  const large = bodyFor(100_000);
  await send(target, small);
  await send(target, large);
  const at10k: number[] = [];
  const at100k: number[] = [];
  let under = true;
  const others = (async () => {
    const waits: number[] = [];
    while (under) {
      const begun = performance.now();
      await fetch(`${target.base}/api/v1/balance`, { headers: { 'x-api-key': target.key } }).then((r) => r.text());
      waits.push(performance.now() - begun);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)] ?? Number.NaN;
  })();
  for (let round = 0; round < rounds; round++) {
    at10k.push(await send(target, small));
    at100k.push(await send(target, large));
  }
  under = false;
  const othersP99 = await others;
  const memory = await target.memory();
  await load(target, 1); // the server still works
  await target.stop();
  await place.drop();
  return { per1000At10k: median(at10k) / 10, per1000At100k: median(at100k) / 100, memory, othersP99 };
}

function bodyFor(recipients: number): string {
  const number = Array.from({ length: recipients }, (_, index) => String(22_670_000_000 + index));
  return JSON.stringify({ signature: 'INFOS', content: 'Bonjour, votre colis est arrive.', number });
}

async function send(target: Target, body: string): Promise<number> {
  const begun = performance.now();
  const response = await fetch(`${target.base}/api/v1/send/sms`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': target.key },
    body,
  });
  const answer = await response.text();
  if (response.status !== 200) throw new Error(answer.slice(0, 200));
  return performance.now() - begun;
}
