import { expect } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { until } from '../common/until.js';
import { ask, sendSms, tallyOf } from '../http/sms-client.js';
import { startMessaging } from './messaging-app.js';

/** Characters that a wrong encoding changes, and those that wrong quoting changes. */
export const TEXT = 'Prix : 5 €, Привет 😀 \\ \'ok\' "oui"';

/** Sends a text all the way over these connections: accepted, claimed, delivered, looked up, listed. */
export async function expectService(database: string | DataSource): Promise<void> {
  const app = await startMessaging('fastify', { storage: { useValue: new TypeormStorage({ database }) } });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => sendSms(app, { content: TEXT, number: [`2267000000${index % 10}`] })),
  );
  expect(tallyOf(answers)).toEqual({ 200: 20 });
  const id = answers[0]?.body.smsID;
  const seen = await until(
    () => ask(app, `api/v1/sms/${id}`),
    ({ body }) => JSON.stringify(body.recipients).includes('"delivered"'),
  );
  expect(seen.body).toMatchObject({ content: TEXT });
  const list = await ask(app, 'api/v1/sms?limit=5');
  expect([list.status, JSON.stringify(list.body).includes(JSON.stringify(TEXT))]).toEqual([200, true]);
  await app.close();
}
