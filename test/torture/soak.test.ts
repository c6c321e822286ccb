import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { CrashBooks } from '../support/crash/crash-books.js';
import { CrashLoad } from '../support/crash/crash-load.js';
import { makeAccount, UNITS } from '../support/crash/crash-loop.js';
import { CrashProcess, type CrashSettings, type HostFigures } from '../support/crash/crash-process.js';
import { SqliteFile } from '../support/databases/sqlite-file.js';
import type { Adapter } from '../support/http/http-apps.js';
import { byForm, drawn, note, randomOf } from './form.js';

const LIMIT_MS = byForm(120_000, 900_000);
const CLIENTS = 8;
/** How long the clients send between two looks, and the number of looks after the first. */
const STRETCH_MS = byForm(1000, 15_000);
const LOOKS = byForm(3, 12);
/** The growth that caches and compiled code may cause. */
const SLACK_BYTES = 8_000_000;
/** The bytes of a send that may stay: fewer than its shortest row would take. */
const KEPT_BYTES = 512;

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
}, 60_000);

interface Soak {
  readonly first: HostFigures;
  readonly last: HostFigures;
  readonly sends: number;
  readonly problems: readonly string[];
}

/** Sends without a pause, and measures from time to time what the host holds. */
async function soak(settings: Omit<CrashSettings, 'database'>): Promise<Soak> {
  const file = new SqliteFile();
  open.push(file);
  const database = `sqlite:${file.path}`;
  const { key } = await makeAccount(database);
  const books = await CrashBooks.open(database);
  const host = new CrashProcess({ database, ...settings });
  open.push(books, host);
  await host.start().answering;
  const looks: HostFigures[] = [];
  const counts: number[] = [];
  const load = new CrashLoad(() => [host], key, { clients: CLIENTS });
  for (let look = 0; look <= LOOKS; look++) {
    await pause(STRETCH_MS);
    looks.push(await host.figures());
    counts.push(load.answered.size);
  }
  await load.finishWithin(60_000);
  await books.settled();
  const problems = [...load.surprises, ...(await books.problems(load.answered, UNITS, true))];
  const [first, last] = [looks[0], looks.at(-1)];
  if (!first || !last) throw new Error('There is a first look.');
  return { first, last, sends: (counts.at(-1) ?? 0) - (counts[0] ?? 0), problems };
}

/** The forbidden growth, as sentences. */
function grown({ first, last, sends }: Soak): string[] {
  const bytes = last.heapBytes - first.heapBytes;
  const handles = last.handles - first.handles;
  return [
    ...(bytes > SLACK_BYTES + KEPT_BYTES * sends ? [`the heap grew by ${bytes} bytes over ${sends} sends`] : []),
    ...(handles > CLIENTS ? [`there are ${handles} handles more`] : []),
  ];
}

describe('the memory of a host under a steady load', () => {
  const adapters: readonly [Adapter, Adapter] = ['express', 'fastify'];

  test.each(byForm<readonly Adapter[]>([drawn(randomOf('soak'), adapters)], adapters))(
    'does not grow on %s',
    async (adapter) => {
      const result = await soak({ adapter });
      const { first, last, sends, problems } = result;
      note('Soak', {
        adapter,
        sends,
        'heap MB before': megabytes(first),
        'heap MB after': megabytes(last),
        'handles before': first.handles,
        'handles after': last.handles,
      });
      expect([...grown(result), ...problems]).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'is found to grow if each request leaves something behind',
    async () => {
      expect(grown(await soak({ leaks: true }))).toEqual([expect.stringMatching(/^the heap grew/)]);
    },
    LIMIT_MS,
  );
});

function megabytes({ heapBytes }: HostFigures): string {
  return (heapBytes / 1e6).toFixed(1);
}
