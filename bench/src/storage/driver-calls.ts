import Database from 'better-sqlite3';
import { Connection } from 'mysql2';
import { Client } from 'pg';

/** What was sent to a database. */
export interface DriverCalls {
  /** Texts that were sent; one text may hold several statements. */
  statements: number;
  /** How often something was sent while its connection waited for no answer. SQLite has no round trips. */
  roundTrips: number;
}

type Call = (...given: unknown[]) => unknown;

/** What is counted now. */
let counted: DriverCalls | undefined;

/** Runs work, and counts what is sent meanwhile. */
export async function driverCalls(work: () => Promise<unknown>): Promise<DriverCalls> {
  const calls = { statements: 0, roundTrips: 0 };
  counted = calls;
  await work();
  counted = undefined;
  return calls;
}

/**
 * Counts on the drivers themselves, because the product sends most statements past TypeORM. To be called once, before the
 * first connection. A `PRAGMA` of SQLite is not counted.
 */
export function countDriverCalls(): void {
  const waiting = new WeakMap<object, number>();
  const wait = (client: object, by: number) => void waiting.set(client, (waiting.get(client) ?? 0) + by);
  wrap(Client.prototype, 'query', async (client, query) => {
    count((waiting.get(client) ?? 0) === 0);
    wait(client, 1);
    try {
      return await query();
    } finally {
      wait(client, -1);
    }
  });
  // `mysql2` sends the next command when the last one was answered.
  const mysql: object = Object.getPrototypeOf(Connection.prototype);
  for (const method of ['query', 'execute']) {
    wrap(mysql, method, (_, send) => {
      count(true);
      return send();
    });
  }
  wrap(Database.prototype, 'prepare', (_, prepare) => {
    const statement = Object(prepare());
    for (const method of ['run', 'all', 'get']) {
      wrap(statement, method, (__, run) => {
        count(false);
        return run();
      });
    }
    return statement;
  });
}

function count(isRoundTrip: boolean): void {
  if (!counted) return;
  counted.statements++;
  if (isRoundTrip) counted.roundTrips++;
}

/** Replaces a method; `around` gets the object and the call. */
function wrap(owner: object, method: string, around: (self: object, call: () => unknown) => unknown): void {
  const inner: Call = Reflect.get(owner, method);
  Reflect.set(owner, method, function (this: object, ...given: unknown[]) {
    return around(this, () => inner.apply(this, given));
  });
}
