import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AccountService } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { OtpService } from '../../../src/otp/otp-service.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { PEPPER } from '../../support/otp/otp-app.js';

let app: INestApplicationContext;
let accountId: string;
let otp: OtpService;
let ledger: LedgerService;

beforeAll(async () => {
  const options = { ...OPTIONS, controllers: false, otp: { pepper: PEPPER } };
  app = await NestFactory.createApplicationContext(MessagingModule.forRoot(options), { logger: false });
  [otp, ledger] = [app.get(OtpService), app.get(LedgerService)];
  accountId = (await app.get(AccountService).createAccount({ name: 'A' })).id;
  await ledger.topUp(accountId, 10);
});
afterAll(() => app.close());

describe('a code under an Idempotency-Key', () => {
  const accept = (service: string) => {
    const body = { service, number: '22670000600' };
    return otp.accept(accountId, body, { once: { key: 'k', body } });
  };

  test('is sent once and its answer repeated; the same key with another body is refused', async () => {
    const { reply } = await accept('Boutique');
    const other = expect(accept('Banque')).rejects.toMatchObject({ code: 'error.idempotency_mismatch' });
    const repeats = await Promise.all(Array.from({ length: 8 }, () => accept('Boutique')));
    expect(repeats).toEqual(Array.from({ length: 8 }, () => ({ reply, replayed: true })));
    await other;
    expect(await ledger.balance(accountId)).toBe(9);
  });
});
