import Database from 'better-sqlite3';
import { Connection } from 'mysql2';
import { Client } from 'pg';

/** The statements that were sent to a database. */
export interface DriverCalls {
  /** The number of texts that were sent. One text may contain several statements. */
  statements: number;
  /** How often a text was sent while its connection was not waiting for an answer. SQLite has no round trips. */
  roundTrips: number;
}

type Call = (...given: unknown[]) => unknown;

/** The counts of the work in progress; undefined if nothing is counted. */
let counted: DriverCalls | undefined;

/** Runs work, and counts the statements that are sent meanwhile. */
export async function driverCalls(work: () => Promise<unknown>): Promise<DriverCalls> {
  const calls = { statements: 0, roundTrips: 0 };
  counted = calls;
  await work();
  counted = undefined;
  return calls;
}

/**
 * Counts in the drivers themselves, because the product sends most statements without TypeORM. Call it once, before the
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
  // `mysql2` sends the next command after the last one was answered, so each command is a round trip.
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

/** Replaces a method. `around` receives the object and the original call. */
function wrap(owner: object, method: string, around: (self: object, call: () => unknown) => unknown): void {
  const inner: Call = Reflect.get(owner, method);
  Reflect.set(owner, method, function (this: object, ...given: unknown[]) {
    return around(this, () => inner.apply(this, given));
  });
}
