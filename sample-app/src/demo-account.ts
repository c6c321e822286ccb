import { Injectable } from '@nestjs/common';
import { AccountService, LedgerService, MessagingError } from 'nestjs-messaging';
import { type Config, ConfigError } from './config.js';
import { keepSecrets, readSecrets } from './secrets.js';

/** The account that the sample app starts with. */
export interface Demo {
  readonly accountId: string;
  readonly apiKey: string;
}

/** Makes the demo account, its key and its first units once, and finds them again at every further start. */
@Injectable()
export class DemoAccount {
  constructor(
    private readonly accounts: AccountService,
    private readonly ledger: LedgerService,
  ) {}

  async prepare({ secretsFile, demoApiKey, demoBalance }: Config): Promise<Demo> {
    const kept = readSecrets(secretsFile);
    const accountId = kept.accountId ?? 'demo';
    if (!(await this.accounts.findAccount(accountId))) {
      await this.accounts.createAccount({ id: accountId, name: 'Demo' });
    }
    const apiKey = await this.key(accountId, demoApiKey ?? kept.apiKey);
    if (demoBalance > 0) await this.firstUnits(accountId, demoBalance);
    if (kept.accountId !== accountId || kept.apiKey !== apiKey)
      keepSecrets(secretsFile, { ...kept, accountId, apiKey });
    return { accountId, apiKey };
  }

  /** The reference makes it happen once, also when an earlier start was killed in between. */
  private async firstUnits(accountId: string, units: number): Promise<void> {
    try {
      await this.ledger.topUp(accountId, units, { reference: `first-units:${accountId}`, note: 'First start' });
    } catch (error) {
      // DEMO_BALANCE was another one on the first start, and that is the one that counts.
      if (!(error instanceof MessagingError) || error.code !== 'error.reference_taken') throw error;
    }
  }

  private async key(accountId: string, known: string | undefined): Promise<string> {
    if (known === undefined) return (await this.accounts.issueKey(accountId)).key;
    try {
      await this.accounts.importKey(accountId, known);
    } catch (error) {
      if (!(error instanceof MessagingError) || error.code !== 'error.field_invalid') throw error;
      throw new ConfigError('DEMO_API_KEY belongs to another account.');
    }
    return known;
  }
}
