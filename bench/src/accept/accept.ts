import { DATABASES, databaseOf, load, startTarget } from '../target.js';
import { type Versus, versus } from '../versus.js';

const VARIANTS = [
  { name: 'sketch without our code', order: { kind: 'sketch' } },
  { name: 'dispatch elsewhere', order: { kind: 'ours', dispatch: false } },
  { name: 'dispatch in process', order: { kind: 'ours', dispatch: true } },
];

/**
 * Measures `POST /send/sms` and compares it with the bare validated route. Each server runs in a process of its own.
 * The results are printed.
 * @param words measures only the variants whose line contains all these words
 */
export async function benchAccept(turns: number, words: readonly string[] = []): Promise<void> {
  for (const adapter of ['express', 'fastify'] as const) {
    for (const database of DATABASES) {
      for (const { name, order } of VARIANTS) {
        if (!words.every((word) => `${adapter} ${name}, ${database}`.includes(word))) continue;
        // The sketch has no code for MariaDB.
        if (order.kind === 'sketch' && database === 'mariadb') continue;
        const place = await databaseOf(database);
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

function print(adapter: string, name: string, { ratio, perSecond, cpu, cpuRatio, p99, refused }: Versus): void {
  console.log(
    `  ${adapter.padEnd(8)} ${name.padEnd(36)} ${ratio.toFixed(2)} x bare   ${Math.round(perSecond)}/s   processor ${Math.round(cpu)} µs, ${cpuRatio.toFixed(2)} x bare   p99 ${p99} ms   refused ${refused}`,
  );
}
