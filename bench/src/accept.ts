import { type Load, load, postgresUrl, sqliteUrl, startTarget, type Target } from './target.js';

/** One row of the accept table. */
export interface AcceptRow {
  readonly name: string;
  readonly adapter: string;
  /** Requests a second against the bare route's, the median of the rounds. */
  readonly ratio: number;
  readonly perSecond: number;
  readonly p99: number;
  readonly refused: number;
}

const WARM_UP_S = 2;

/**
 * `POST /send/sms` against the bare validated route, both in processes of their own. The two take turns, so that what else
 * the machine does hits both.
 */
export async function benchAccept(rounds: number, seconds: number): Promise<AcceptRow[]> {
  const rows: AcceptRow[] = [];
  for (const adapter of ['express', 'fastify'] as const) {
    for (const database of ['sqlite', 'postgres'] as const) {
      for (const { name, order } of VARIANTS) {
        const place = database === 'sqlite' ? sqliteUrl() : await postgresUrl();
        if (!place) {
          console.log(`  ${name} on ${database}: SKIPPED, no server on its standard local port`);
          continue;
        }
        const bare = await startTarget({ kind: 'bare', adapter });
        const target = await startTarget({ ...order, adapter, url: place.url });
        rows.push({ name: `${name}, ${database}`, adapter, ...(await compare(bare, target, rounds, seconds)) });
        await Promise.all([bare.stop(), target.stop()]);
        await place.drop();
        const row = rows.at(-1);
        if (row) print(row);
      }
    }
  }
  return rows;
}

const VARIANTS = [
  { name: 'sketch without our code', order: { kind: 'sketch' } },
  { name: 'dispatch elsewhere', order: { kind: 'ours', dispatch: false } },
  { name: 'dispatch in process', order: { kind: 'ours', dispatch: true } },
];

async function compare(bare: Target, target: Target, rounds: number, seconds: number) {
  await load(bare, WARM_UP_S);
  await load(target, WARM_UP_S);
  const ratios: number[] = [];
  const ours: Load[] = [];
  for (let round = 0; round < rounds; round++) {
    const theirs = await load(bare, seconds);
    const mine = await load(target, seconds);
    ours.push(mine);
    ratios.push(mine.perSecond / theirs.perSecond);
  }
  return {
    ratio: median(ratios),
    perSecond: median(ours.map(({ perSecond }) => perSecond)),
    p99: Math.max(...ours.map(({ p99 }) => p99)),
    refused: ours.reduce((sum, { refused }) => sum + refused, 0),
  };
}

/** The middle one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function print({ name, adapter, ratio, perSecond, p99, refused }: AcceptRow): void {
  console.log(
    `  ${adapter.padEnd(8)} ${name.padEnd(36)} ${ratio.toFixed(2)} x bare   ${Math.round(perSecond)}/s   p99 ${p99} ms   refused ${refused}`,
  );
}
