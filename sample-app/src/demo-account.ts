import { Injectable } from '@nestjs/common';
import { AccountService, LedgerService, MessagingError } from 'nestjs-messaging';
import type { Config } from './config.js';
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
    // The reference makes it happen once, also when an earlier start was killed in between.
    if (demoBalance > 0) {
      await this.ledger.topUp(accountId, demoBalance, { reference: `first-units:${accountId}`, note: 'First start' });
    }
    const apiKey = await this.key(accountId, demoApiKey ?? kept.apiKey);
    if (kept.accountId !== accountId || kept.apiKey !== apiKey)
      keepSecrets(secretsFile, { ...kept, accountId, apiKey });
    return { accountId, apiKey };
  }

  private async key(accountId: string, known: string | undefined): Promise<string> {
    if (known === undefined) return (await this.accounts.issueKey(accountId)).key;
    try {
      await this.accounts.importKey(accountId, known);
    } catch (error) {
      if (!(error instanceof MessagingError) || error.code !== 'error.field_invalid') throw error;
      throw new Error('DEMO_API_KEY is not a well-formed API key (msgk_…), or it belongs to another account.');
    }
    return known;
  }
}
