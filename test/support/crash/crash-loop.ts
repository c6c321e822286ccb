import { setTimeout as pause } from 'node:timers/promises';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { PATIENCE_MS, until } from '../common/until.js';
import { startMessaging } from '../mounting/messaging-app.js';
import { CrashBooks } from './crash-books.js';
import { CrashLoad } from './crash-load.js';
import { CrashProcess, type CrashSettings } from './crash-process.js';

/** More than any of these tests spends. */
export const UNITS = 1_000_000;
const CLIENTS = 8;
/** How long a host lives at most after it answers. */
const LIFE_MS = 400;

/** The results after the last crash, when all work has ended. */
export interface Aftermath {
  readonly answered: number;
  readonly unanswered: number;
  /** All faults, as sentences. */
  readonly problems: readonly string[];
  /** Each delivery's state by `<smsID>:<position>`. */
  readonly states: ReadonlyMap<string, string>;
  /** The same by number, because each send has a number of its own. */
  readonly phones: ReadonlyMap<string, string>;
}

/**
 * Starts a host, kills it under load this many times, lets the last one finish, and checks the result.
 * @param ripe resolves when it is time to kill the host
 */
export async function crashLoop(
  settings: CrashSettings,
  kills: number,
  ripe: (host: CrashProcess) => Promise<void> = () => pause(Math.random() * LIFE_MS),
): Promise<Aftermath> {
  const { key } = await makeAccount(settings.database);
  // It does not live long enough to profit from V8's optimising compilers.
  const host = new CrashProcess(settings, ['--no-opt']);
  const books = await CrashBooks.open(settings.database);
  try {
    await host.start().answering;
    const load = new CrashLoad(() => [host], key, { clients: CLIENTS });
    let lives = true;
    for (let kill = 0; kill < kills; kill++) {
      if (lives) await busy(load);
      await ripe(host);
      await host.end('SIGKILL');
      const { answering } = host.start();
      // Sometimes it does not even live long enough to answer.
      lives = kill % 2 === 0;
      if (lives) await answering;
    }
    if (lives) await busy(load);
    await host.end('SIGKILL');
    await host.start().answering;
    await load.finishWithin(PATIENCE_MS);
    await books.settled();
    const problems = [...load.surprises, ...(await repeated(load))];
    await host.end('SIGTERM');
    problems.push(...(await books.problems(load.answered, UNITS, settings.carrier === undefined)));
    const deliveries = await books.deliveries();
    const states = new Map(deliveries.map(({ id, status }) => [id, status]));
    const phones = new Map(deliveries.map(({ number, status }) => [number, status]));
    return { answered: load.answered.size, unanswered: load.unanswered, problems, states, phones };
  } finally {
    await host.close();
    await books.close();
  }
}

/**
 * Resolves when a host has answered some sends. A host that is killed before shows nothing, and on a slow machine most
 * of them would be.
 */
export async function busy({ answered, surprises }: CrashLoad): Promise<void> {
  const before = answered.size;
  // A surprise ends the load, and the ledger shows the rest.
  await until(() => answered.size >= before + 2 * CLIENTS || surprises.length > 0);
}

/** An account with this many units, by default more than any load spends. */
export async function makeAccount(
  database: string,
  units = UNITS,
): Promise<{ readonly accountId: string; readonly key: string }> {
  const storage = { useValue: new TypeormStorage({ database }) };
  const app = await startMessaging('express', { storage, role: 'api' }, { units });
  await app.close();
  return app;
}

/** Repeats the first and the last keys, which must give the same answers. @returns the faults, as sentences */
export async function repeated(load: CrashLoad): Promise<string[]> {
  const keys = [...load.answered.keys()];
  const problems = await Promise.all([...keys.slice(0, 5), ...keys.slice(-5)].map((once) => load.repeated(once)));
  return problems.filter((problem) => problem !== undefined);
}
