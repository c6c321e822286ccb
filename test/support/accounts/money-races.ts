import { expect } from '@jest/globals';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { balanceOf, phoneOf, type SmsAnswer, sendSms, tallyOf } from '../http/sms-client.js';
import type { MessagingApp } from '../mounting/messaging-app.js';

/** The instances of one service, on one database. The account belongs to the first one. */
export type Instances = readonly [MessagingApp, ...MessagingApp[]];

/** `count` sends at once, spread over the instances. */
export function sendAtOnce(instances: Instances, count: number, once?: string): Promise<SmsAnswer[]> {
  const { key } = instances[0];
  const one = (index: number) => {
    const { url } = instances[index % instances.length] ?? instances[0];
    const order = once === undefined ? { number: [phoneOf(index)] } : { once };
    return sendSms({ url, key }, order);
  };
  return Promise.all(Array.from({ length: count }, (_, index) => one(index)));
}

/** The faults that the check of the ledger finds. */
export function checkLedger([{ app }]: Instances): Promise<readonly string[]> {
  return app.get(LedgerService, { strict: false }).checkLedger();
}

/** How many messages an account has, at most 500. */
export async function countMessages({ app, accountId }: MessagingApp): Promise<number> {
  const store = app.get(OutboxStore, { strict: false });
  const { items } = await store.list({ accountId, channel: 'sms', kinds: ['text'], limit: 500, after: undefined });
  return items.length;
}

/** 200 sends at once on a balance for 100. */
export async function expectExactlyTheBalance(instances: Instances): Promise<void> {
  const answers = await sendAtOnce(instances, 200);
  expect(tallyOf(answers)).toEqual({ '200': 100, '400 Solde SMS insuffisant': 100 });
  expect(new Set(answers.flatMap(({ status, body }) => (status === 200 ? [body.smsID] : []))).size).toBe(100);
  expect(await balanceOf(instances[0])).toBe(0);
  expect(await countMessages(instances[0])).toBe(100);
  expect(await checkLedger(instances)).toEqual([]);
}

/** 50 requests at once under one key, on an account with 1000 units and no message yet. */
export async function expectOneSend(instances: Instances): Promise<void> {
  const answers = await sendAtOnce(instances, 50, 'the-key');
  const firsts = answers.filter(({ status, headers }) => status === 200 && !headers.has('idempotency-replayed'));
  expect(firsts).toHaveLength(1);
  const bytes = firsts[0]?.text;
  for (const { status, headers, text } of answers) {
    if (status === 200) expect(text).toBe(bytes);
    else expect([status, headers.get('retry-after')]).toEqual([409, '1']);
  }
  for (const { url } of instances) {
    const repeat = await sendSms({ url, key: instances[0].key }, { once: 'the-key' });
    expect([repeat.status, repeat.text, repeat.headers.get('idempotency-replayed')]).toEqual([200, bytes, 'true']);
  }
  expect(await countMessages(instances[0])).toBe(1);
  expect(await balanceOf(instances[0])).toBe(999);
  expect(await checkLedger(instances)).toEqual([]);
}
