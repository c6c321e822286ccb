import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AccountService } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { OtpService, type OtpToSend, type OtpToVerify } from '../../../src/otp/otp-service.js';
import { NO_INPUTS, notStrings } from '../../support/common/wrong-inputs.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { PEPPER } from '../../support/otp/otp-app.js';

const NUMBER = '22670000500';
const refused = (code: string, values?: object) => expect.objectContaining(values ? { code, values } : { code });

let app: INestApplicationContext;
let otp: OtpService;
let balance: () => Promise<number>;
/** As hosts in JavaScript call it. */
let send: (input: unknown) => Promise<unknown>;

beforeAll(async () => {
  const options = { ...OPTIONS, controllers: false, otp: { pepper: PEPPER } };
  app = await NestFactory.createApplicationContext(MessagingModule.forRoot(options), { logger: false });
  const [accounts, ledger] = [app.get(AccountService), app.get(LedgerService)];
  const { id } = await accounts.createAccount({ id: 'acc', name: 'A' });
  await ledger.topUp(id, 100);
  otp = app.get(OtpService);
  balance = () => ledger.balance(id);
  send = (input) => otp.send(id, input as OtpToSend);
});
afterAll(() => app.close());

describe('a phone number that is not a string is refused', () => {
  test.each([...notStrings(NUMBER), ['nothing', undefined], ['null', null]])('%s', async (_, value) => {
    const number = value as string;
    await expect(send({ service: 's', number })).rejects.toEqual(refused('error.invalid_number'));
    await expect(otp.verify('acc', { service: 's', number, otp: '0000' })).rejects.toEqual(
      refused('error.invalid_number'),
    );
    expect(await balance()).toBe(100);
  });

  test('the refusal shows the value as far as that is safe', async () => {
    for (const [number, named] of [
      [22670000500, '22670000500'],
      [null, 'null'],
      [[NUMBER], 'object'],
      ['x'.repeat(99), 'x'.repeat(64)],
    ] as const) {
      await expect(send({ service: 's', number })).rejects.toEqual(refused('error.invalid_number', { number: named }));
    }
  });
});

describe('a service that is not a string is refused', () => {
  test.each([...notStrings('s'), ['nothing', undefined], ['null', null]])('%s', async (_, value) => {
    const service = value as string;
    const refusal = refused('error.field_not_string', { field: 'service' });
    await expect(send({ service, number: NUMBER })).rejects.toEqual(refusal);
    await expect(otp.verify('acc', { service, number: NUMBER, otp: '0000' })).rejects.toEqual(refusal);
    expect(await balance()).toBe(100);
  });
});

test.each(notStrings('sms'))('a channel that is not a string is refused: %s', async (_, channel) => {
  const refusal = refused('error.field_not_string', { field: 'channel' });
  await expect(send({ service: 's', number: NUMBER, channel })).rejects.toEqual(refusal);
  expect(await balance()).toBe(100);
});

test.each(NO_INPUTS)('a missing input is refused: %j', async (input) => {
  await expect(send(input)).rejects.toEqual(refused('error.body_not_object'));
  await expect(otp.verify('acc', input as OtpToVerify)).rejects.toEqual(refused('error.body_not_object'));
});

test('a channel that is null counts as absent', async () => {
  await expect(send({ service: 's', number: NUMBER, channel: null })).resolves.toMatchObject({ channel: 'sms' });
});
