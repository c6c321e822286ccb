import { expect } from '@jest/globals';
import { MessagingOptionsError } from '../../../src/common/errors.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';

/**
 * The sentences of a start that checks a server's empty database, one that does not exist, and one that it may not
 * open.
 */
export async function expectStartSentences(url: string): Promise<void> {
  await expectSentence(url, 'check', /migrations is 'check' and the schema lacks .*: run messagingMigrations first\.$/);
  await expectSentence(`${url}_not`, 'run', /there is no such database for this user \(\w+\)\.$/);
  const stranger = new URL(url);
  Object.assign(stranger, { username: 'nobody', password: 'hunter2' });
  await expectSentence(stranger.href, 'run', /the database refuses this user or password \(\w+\)\.$/);
}

async function expectSentence(database: string, migrations: 'run' | 'check', sentence: RegExp): Promise<void> {
  const error: unknown = await new TypeormStorage({ database, migrations }).start().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(MessagingOptionsError);
  if (!(error instanceof Error)) return;
  expect(error.message).toMatch(/^Option storage: /);
  expect(error.message).toMatch(sentence);
  expect(`${error.stack} ${error.cause instanceof Error ? error.cause.stack : ''}`).not.toContain('hunter2');
}
