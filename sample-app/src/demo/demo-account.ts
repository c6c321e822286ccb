import { Injectable } from '@nestjs/common';
import { AccountService, Clock, type ErrorCode, LedgerService, MessagingError } from 'nestjs-messaging';
import { type Config, ConfigError } from '../config/config.js';
import { keepSecrets, keptSecrets } from '../config/secrets.js';

/** The account that the sample app starts with. */
export interface Demo {
  readonly accountId: string;
  readonly apiKey: string;
}

/** Makes the demo account, its key and its first units on the first start. Later starts find them again. */
@Injectable()
export class DemoAccount {
  constructor(
    private readonly accounts: AccountService,
    private readonly ledger: LedgerService,
    private readonly clock: Clock,
  ) {}

  async prepare({ secretsFile, demoApiKey, demoBalance }: Config): Promise<Demo> {
    const kept = keptSecrets(secretsFile);
    const { accountId } = kept;
    if (!(await this.accounts.findAccount(accountId))) {
      // Another process may have started at the same moment.
      await this.accounts.createAccount({ id: accountId, name: 'Demo' }).catch(passOver('error.account_exists'));
    }
    const apiKey =
      demoApiKey === undefined
        ? await this.keptKey(accountId, kept.apiKey)
        : await this.givenKey(accountId, demoApiKey);
    if (demoBalance > 0) await this.firstUnits(accountId, demoBalance);
    if (kept.apiKey !== apiKey) keepSecrets(secretsFile, { ...kept, apiKey });
    return { accountId, apiKey };
  }

  /** Tops up once. The reference prevents a second top-up, even if an earlier start was killed after the first one. */
  private async firstUnits(accountId: string, units: number): Promise<void> {
    // If DEMO_BALANCE had another value on the first start, that value counts.
    await this.ledger
      .topUp(accountId, units, { reference: `first-units:${accountId}`, note: 'First start' })
      .catch(passOver('error.reference_taken'));
  }

  /**
   * Checks the kept key, because an operator may have rotated or revoked it. A key that expires, even if only tomorrow, is
   * replaced.
   */
  private async keptKey(accountId: string, known: string): Promise<string> {
    if ((await this.endOf(accountId, known)) === undefined) return known;
    return (await this.accounts.issueKey(accountId)).key;
  }

  /** Uses the key of the setting as long as it works. The grace of a rotation gives time to change the setting. */
  private async givenKey(accountId: string, given: string): Promise<string> {
    const end = await this.endOf(accountId, given);
    if (end === undefined || end > this.clock.now()) return given;
    throw new ConfigError('DEMO_API_KEY was revoked or has expired: give another one, or none, and a new key is made.');
  }

  /**
   * Returns when a key of the account expires or has expired, in milliseconds since the epoch, or undefined if it never does. An
   * unknown key is added to the account.
   */
  private async endOf(accountId: string, key: string): Promise<number | undefined> {
    const { id } = await this.accounts.importKey(accountId, key).catch(notOurs);
    for (let after: string | undefined; ; ) {
      const { items, next } = await this.accounts.listKeys(accountId, { limit: 1000, after });
      const found = items.find((each) => each.id === id);
      if (found || next === undefined) return found?.revokedAt ?? found?.expiresAt;
      after = next;
    }
  }
}

function passOver(code: ErrorCode): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof MessagingError) || error.code !== code) throw error;
  };
}

function notOurs(error: unknown): never {
  if (!(error instanceof MessagingError) || error.code !== 'error.field_invalid') throw error;
  throw new ConfigError('DEMO_API_KEY belongs to another account.');
}
