import { load, postgresUrl, sqliteUrl, startTarget } from './target.js';
import { type Versus, versus } from './versus.js';

const VARIANTS = [
  { name: 'sketch without our code', order: { kind: 'sketch' } },
  { name: 'dispatch elsewhere', order: { kind: 'ours', dispatch: false } },
  { name: 'dispatch in process', order: { kind: 'ours', dispatch: true } },
];

/** Prints `POST /send/sms` against the bare validated route, both in processes of their own. */
export async function benchAccept(turns: number): Promise<void> {
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
        print(
          adapter,
          `${name}, ${database}`,
          await versus(
            turns,
            (seconds) => load(target, seconds),
            (seconds) => load(bare, seconds),
          ),
        );
        await Promise.all([bare.stop(), target.stop()]);
        await place.drop();
      }
    }
  }
}

function print(adapter: string, name: string, { ratio, perSecond, p99, refused }: Versus): void {
  console.log(
    `  ${adapter.padEnd(8)} ${name.padEnd(36)} ${ratio.toFixed(2)} x bare   ${Math.round(perSecond)}/s   p99 ${p99} ms   refused ${refused}`,
  );
}
