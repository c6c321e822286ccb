import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AccountService } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { OptOutService } from '../../../src/sms/opt-out/opt-out-service.js';
import { SmsService, type SmsToSend } from '../../../src/sms/sms-service.js';
import { NO_INPUTS, notStrings } from '../../support/common/wrong-inputs.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';

const NUMBER = '22670000500';
const SMS = { signature: 'INFOS', content: 'Bonjour', number: [NUMBER] };
const refused = (code: string, values?: object) => expect.objectContaining(values ? { code, values } : { code });

let app: INestApplicationContext;
let sms: SmsService;
let optOuts: OptOutService;
let balance: () => Promise<number>;
/** As hosts in JavaScript call it. */
let send: (input: unknown) => Promise<unknown>;
let quote: (input: unknown) => Promise<unknown>;

beforeAll(async () => {
  const options = { ...OPTIONS, controllers: false };
  app = await NestFactory.createApplicationContext(MessagingModule.forRoot(options), { logger: false });
  const [accounts, ledger] = [app.get(AccountService), app.get(LedgerService)];
  const { id } = await accounts.createAccount({ id: 'acc', name: 'A' });
  await ledger.topUp(id, 100);
  sms = app.get(SmsService);
  optOuts = app.get(OptOutService);
  balance = () => ledger.balance(id);
  send = (input) => sms.send(id, input as SmsToSend);
  quote = (input) => sms.quote(input as SmsToSend);
});
afterAll(() => app.close());

describe('a recipient that is not a string is refused', () => {
  test.each([...notStrings(NUMBER), ['nothing', undefined], ['null', null]])('%s', async (_, value) => {
    for (const number of [[value], [NUMBER, value]]) {
      await expect(send({ ...SMS, number })).rejects.toEqual(refused('error.numbers_not_strings'));
      await expect(quote({ ...SMS, number })).rejects.toEqual(refused('error.numbers_not_strings'));
      await expect(optOuts.add({ signature: 'INFOS' }, number as string[])).rejects.toEqual(
        refused('error.numbers_not_strings'),
      );
    }
    expect(await balance()).toBe(100);
  });
});

test.each<[string, unknown]>([
  ['a string', NUMBER],
  ['a number', 22670000500],
  ['an object', {}],
  ['an object like a list', { length: 1, 0: NUMBER }],
  ['a set', new Set([NUMBER])],
])('recipients that are not a list are refused: %s', async (_, number) => {
  const refusal = refused('error.field_not_list', { field: 'number' });
  await expect(send({ ...SMS, number })).rejects.toEqual(refusal);
  await expect(quote({ ...SMS, number })).rejects.toEqual(refusal);
});

test.each(notStrings('Bonjour'))('a content that is not a string is refused: %s', async (_, content) => {
  const refusal = refused('error.field_not_string', { field: 'content' });
  await expect(send({ ...SMS, content })).rejects.toEqual(refusal);
  await expect(quote({ ...SMS, content })).rejects.toEqual(refusal);
  expect(await balance()).toBe(100);
});

test.each([undefined, null, '\u200b', '\u2800 \u3164', '\u202e\ufe0f'])(
  'a content that is %j is empty',
  async (content) => {
    await expect(send({ ...SMS, content })).rejects.toEqual(refused('error.empty_message'));
    await expect(quote({ ...SMS, content })).rejects.toEqual(refused('error.empty_message'));
  },
);

test.each(notStrings('INFOS'))('a signature that is not a string is not verified: %s', async (_, signature) => {
  await expect(send({ ...SMS, signature })).rejects.toEqual(refused('error.signature_refused'));
  expect(await balance()).toBe(100);
});

test.each(NO_INPUTS)('a missing input is refused: %j', async (input) => {
  await expect(send(input)).rejects.toEqual(refused('error.body_not_object'));
  await expect(quote(input)).rejects.toEqual(refused('error.body_not_object'));
});

test.each(notStrings('id'))(
  'an id that is not a string is not found, and such a cursor is refused: %s',
  async (_, value) => {
    await expect(sms.get('acc', value as string)).rejects.toEqual(refused('error.message_not_found'));
    await expect(sms.list('acc', { cursor: value as string })).rejects.toEqual(refused('error.invalid_cursor'));
  },
);

test.each([
  ...notStrings('10').filter(([what]) => what !== 'a number'),
  ...['10', 0, -1, 1.5, 1001, Number.NaN, Number.POSITIVE_INFINITY, null].map(
    (value) => [String(value), value] as const,
  ),
])('a limit that is not a page size is refused: %s', async (_, value) => {
  const refusal = refused('error.field_invalid', { field: 'limit' });
  const limit = value as number;
  await expect(sms.list('acc', { limit })).rejects.toEqual(refusal);
  await expect(app.get(LedgerService).entries('acc', { limit })).rejects.toEqual(refusal);
});
