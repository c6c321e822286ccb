import { setTimeout as pause } from 'node:timers/promises';
import { TypeormStorage } from '../../src/storage/typeorm/typeorm-storage.js';
import { CrashBooks } from './crash-books.js';
import { CrashLoad } from './crash-load.js';
import { CrashProcess, type CrashSettings } from './crash-process.js';
import { startMessaging } from './messaging-app.js';
import { sendSms } from './sms-client.js';
import { until } from './until.js';

/** More than any of these tests spends. */
const UNITS = 1_000_000;
const CLIENTS = 8;
/** How long a host lives after it answers, at the most. */
const LIFE_MS = 400;

/** What is to be seen after the last crash, when all has come to rest. */
export interface Aftermath {
  readonly answered: number;
  readonly unanswered: number;
  /** Everything that is wrong, in sentences. */
  readonly problems: readonly string[];
  /** Each delivery's state by `<smsID>:<position>`. */
  readonly states: ReadonlyMap<string, string>;
  /** The same by number: each send has one of its own. */
  readonly phones: ReadonlyMap<string, string>;
}

/**
 * Starts a host, kills it under load so many times, lets the last one finish, and looks at what is left.
 * @param ripe resolves when the time has come to kill it
 */
export async function crashLoop(
  settings: CrashSettings,
  kills: number,
  ripe = (): Promise<void> => pause(Math.random() * LIFE_MS),
): Promise<Aftermath> {
  const key = await makeAccount(settings.database);
  const host = new CrashProcess(settings);
  const books = await CrashBooks.open(settings.database);
  try {
    await host.start().answering;
    const load = new CrashLoad(host, key, CLIENTS);
    let lives = true;
    for (let kill = 0; kill < kills; kill++) {
      if (lives) await busy(load);
      await ripe();
      await host.end('SIGKILL');
      const { answering } = host.start();
      // Now and then it does not even live to answer.
      lives = kill % 4 < 3;
      if (lives) await answering;
    }
    if (lives) await busy(load);
    await host.end('SIGKILL');
    await host.start().answering;
    await load.finish();
    await until(
      () => books.unfinished(),
      (count) => count === 0,
    );
    const problems = [...load.surprises, ...(await repeated(host, key, load))];
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

/** Resolves when a host has answered some: one that dies before shows nothing, and on a slow machine that is most of them. */
async function busy({ answered }: CrashLoad): Promise<void> {
  const before = answered.size;
  await until(
    async () => answered.size,
    (count) => count >= before + 2 * CLIENTS,
  );
}

async function makeAccount(database: string): Promise<string> {
  const storage = { useValue: new TypeormStorage({ database }) };
  const app = await startMessaging('express', { storage, dispatch: { enabled: false } }, { units: UNITS });
  await app.close();
  return app.key;
}

/** The first and the last keys once more: they answer what they answered. */
async function repeated(host: CrashProcess, key: string, { answered }: CrashLoad): Promise<string[]> {
  const entries = [...answered];
  const problems: string[] = [];
  for (const [once, { text, smsId }] of [...entries.slice(0, 5), ...entries.slice(-5)]) {
    const number = JSON.parse(text).number;
    const repeat = await sendSms({ url: host.url, key }, { once, number });
    if (repeat.text !== text) problems.push(`${once} answered ${smsId}, and then ${repeat.status} ${repeat.text}`);
  }
  return problems;
}
