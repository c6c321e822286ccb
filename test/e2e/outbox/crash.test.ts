import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { crashLoop } from '../../support/crash/crash-loop.js';
import type { CrashProcess } from '../../support/crash/crash-process.js';
import { SqliteFile } from '../../support/databases/sqlite-file.js';

const opened = closeAfterEach();
const LIMIT_MS = 300_000;

/** What a carrier received, in order: in which run of the host, and which delivery. */
function submissions(path: string): { run: number; id: string }[] {
  return linesOf(path).map((line) => {
    const [run = '', id = ''] = line.split(' ');
    return { run: Number(run), id };
  });
}

function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}

/** Stops the host at a moment when its carrier has taken messages that it has not answered. */
async function onTheWire(host: CrashProcess, carrierLog: string): Promise<void> {
  const ofThisRun = (path: string) => linesOf(path).filter((line) => line.startsWith(`${host.runs} `)).length;
  await until(() => {
    host.signal('SIGSTOP');
    const caught = ofThisRun(carrierLog) > ofThisRun(`${carrierLog}.answered`);
    if (!caught) host.signal('SIGCONT');
    return caught;
  });
}

// The torture runs do the same for minutes, on every database: test/torture/books.test.ts.
describe('kill -9 again and again under load (SQLite, Express)', () => {
  test(
    'nothing that was answered is lost, nothing is charged or shown twice, and everything ends',
    async () => {
      const { path } = opened(new SqliteFile());
      const { answered, unanswered, problems, states } = await crashLoop({ database: `sqlite:${path}` }, 2);
      expect(problems).toEqual([]);
      expect(answered).toBeGreaterThan(30);
      expect(unanswered).toBeGreaterThan(0);
      expect(new Set(states.values())).toEqual(new Set(['delivered']));
    },
    LIMIT_MS,
  );

  test(
    'a host that answers before it commits is detected',
    async () => {
      const { path } = opened(new SqliteFile());
      // The host is killed as soon as it has answered some.
      const { problems } = await crashLoop({ database: `sqlite:${path}`, naive: true }, 1, () => Promise.resolve());
      expect(problems.join('\n')).toContain('was answered and is lost');
    },
    LIMIT_MS,
  );
});

describe('kill -9 while a batch is on the wire', () => {
  test(
    'at most once, on Express: messages that were on the wire become unknown and are never submitted again',
    async () => {
      const { path } = opened(new SqliteFile());
      const carrierLog = `${path}.log`;
      const settings = { database: `sqlite:${path}`, carrier: 'at-most-once', carrierLog } as const;
      const { problems, states } = await crashLoop(settings, 1, (host) => onTheWire(host, carrierLog));
      expect(problems).toEqual([]);
      const given = submissions(carrierLog).map(({ id }) => id);
      expect(new Set(given).size).toBe(given.length);
      const unknown = [...states].filter(([, status]) => status === 'unknown').map(([id]) => id);
      expect(unknown.length).toBeGreaterThan(0);
      expect(new Set(states.values())).toEqual(new Set(['delivered', 'unknown']));
      // Claimed and not yet handed over looks the same to us, but a delivered message was always handed over.
      const delivered = [...states].filter(([, status]) => status === 'delivered').map(([id]) => id);
      expect(delivered.filter((id) => !given.includes(id))).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'at least once, on Fastify: everything is delivered, and only messages in flight are submitted again, by a later run',
    async () => {
      const { path } = opened(new SqliteFile());
      const carrierLog = `${path}.log`;
      const settings = {
        database: `sqlite:${path}`,
        carrier: 'at-least-once',
        carrierLog,
        adapter: 'fastify',
      } as const;
      const kills = 1;
      const { problems, states } = await crashLoop(settings, kills, (host) => onTheWire(host, carrierLog));
      expect(problems).toEqual([]);
      expect(new Set(states.values())).toEqual(new Set(['delivered']));
      const runs = new Map<string, number[]>();
      for (const { run, id } of submissions(carrierLog)) runs.set(id, [...(runs.get(id) ?? []), run]);
      expect([...states.keys()].filter((id) => !runs.has(id))).toEqual([]);
      const repeated = [...runs.values()].filter(({ length }) => length > 1);
      expect(repeated.length).toBeGreaterThan(0);
      for (const each of repeated) expect(new Set(each).size).toBe(each.length);
      // At most four batches of five are under way when a host dies, and there are `kills` + 1 deaths.
      const extra = repeated.reduce((sum, { length }) => sum + length - 1, 0);
      expect(extra).toBeLessThanOrEqual((kills + 1) * 20);
    },
    LIMIT_MS,
  );
});
