import { CrashBooks } from '../support/crash/crash-books.js';
import { makeAccount } from '../support/crash/crash-loop.js';
import { CrashProcess, type CrashSettings } from '../support/crash/crash-process.js';
import { ApiClient } from '../support/http/api-client.js';
import type { SmsTarget } from '../support/http/sms-client.js';
import type { TortureDatabase } from './databases.js';

/** The units of each account: enough for messages to 100 000. */
const UNITS = 100_000_000;

/** One process with two accounts: a hostile one, and another one that must notice nothing. */
export class CrowdedService {
  /** The units that were added since. */
  toppedUp = 0;

  private constructor(
    readonly database: TortureDatabase,
    readonly host: CrashProcess,
    readonly books: CrashBooks,
    readonly hostile: ApiClient,
    private readonly otherKey: string,
  ) {}

  /** @param database is closed with the service, also if it cannot start */
  static async open(
    database: TortureDatabase,
    settings: Omit<CrashSettings, 'database' | 'ownRoutes'>,
  ): Promise<CrowdedService> {
    const ends = [() => database.close()];
    try {
      const { accountId, key } = await makeAccount(database.url, UNITS);
      const other = await makeAccount(database.url, UNITS);
      const books = await CrashBooks.open(database.url);
      ends.unshift(() => books.close());
      const own = database.engine === 'sqlite' ? {} : { ownRoutes: { accountId } };
      const host = new CrashProcess({ database: database.hostUrl, ...settings, ...own });
      ends.unshift(() => host.close());
      await host.start().answering;
      const hostile = new ApiClient(`${host.url}/api/v1`, accountId, key);
      const service = new CrowdedService(database, host, books, hostile, other.key);
      service.close = async () => {
        for (const end of ends) await end();
      };
      return service;
    } catch (error) {
      for (const end of ends) await end();
      throw error;
    }
  }

  close: () => Promise<void> = async () => {};

  get other(): SmsTarget {
    return { url: this.host.url, key: this.otherKey };
  }

  /** The faults in the ledger of both, as sentences. */
  problems(): Promise<string[]> {
    return this.books.sumProblems(2 * UNITS + this.toppedUp);
  }
}
