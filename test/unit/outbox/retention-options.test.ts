import { expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Rounds } from '../../../src/common/concurrency/rounds.js';
import { HOUR_MS } from '../../../src/common/time.js';
import { Purger } from '../../../src/outbox/purger.js';
import { contentRemover, isRemoved } from '../../../src/outbox/retention/removed-payload.js';
import { Retention } from '../../../src/outbox/retention/retention.js';
import { resolveRetentionSettings } from '../../../src/outbox/retention/retention-options.js';
import { RetentionStore } from '../../../src/outbox/retention/retention-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';

const SECRET = 'a secret for retention, 0123456789 abcdef';

test.each([
  ['1 hour', HOUR_MS],
  ['36 hours', 36 * HOUR_MS],
  ['30 days', 720 * HOUR_MS],
  ['1 week', 168 * HOUR_MS],
  ['13 months', 13 * 31 * 24 * HOUR_MS],
  ['10 years', 10 * 366 * 24 * HOUR_MS],
])('%s is a duration', (texts, ms) => {
  expect(resolveRetentionSettings({ texts }).texts).toBe(ms);
});

const SENTENCE =
  'must be a duration such as "30 days": a whole number, at least 1, of hours, days, weeks, months or years, at most 100 years; got ';

test.each([
  ['30 dys', '"30 dys"'],
  ['30', '"30"'],
  ['0 days', '"0 days"'],
  ['-1 days', '"-1 days"'],
  ['1.5 days', '"1.5 days"'],
  ['30 days ', '"30 days "'],
  ['101 years', '"101 years"'],
  ['', '""'],
  [30, '30'],
  [['1 day'], 'a list'],
  [false, 'false'],
])('%p is refused as a duration, in a sentence at the start', (given, shown) => {
  for (const option of ['texts', 'messages', 'trail']) {
    expect(() => resolveRetentionSettings({ [option]: given })).toThrow(
      `Option retention.${option} ${SENTENCE}${shown}.`,
    );
  }
});

test('a secret must be well-formed, and is never shown', () => {
  for (const secret of ['short', 'a'.repeat(64), 5]) {
    const fault = () => resolveRetentionSettings({ secret } as { secret: string });
    expect(fault).toThrow(/^Option retention\.secret is too weak: .*openssl rand -base64 48"\.$/);
    expect(fault).not.toThrow(String(secret).repeat(2));
  }
  expect(() => resolveRetentionSettings({ previousSecrets: [SECRET] })).toThrow(
    'Option retention.previousSecrets needs retention.secret, the present one.',
  );
  expect(() => resolveRetentionSettings({ secret: SECRET, previousSecrets: ['x'] })).toThrow(
    /^Option retention\.previousSecrets\[0\] is too weak/,
  );
  expect(resolveRetentionSettings({ secret: SECRET, previousSecrets: [`${SECRET} old`] }).keys).toHaveLength(2);
  expect(resolveRetentionSettings().keys).toEqual([]);
  expect(() => resolveRetentionSettings({ text: '1 day' } as never)).toThrow(
    'Option retention.text is not known; the known options are texts, messages, trail, secret, previousSecrets.',
  );
});

test('a payload is redacted as configured', () => {
  const { keys } = resolveRetentionSettings({ secret: SECRET });
  const remove = contentRemover(keys[0]);
  const text = remove({ kind: 'text', text: 'Bonjour' });
  expect(text).toEqual({ kind: 'text', removed: expect.stringMatching(/^[\w-]{43}$/) });
  expect(remove(text)).toBe(text);
  expect(remove({ kind: 'media', caption: 'Bonjour', media: { fileName: 'awa.png' } })).toEqual({
    ...text,
    kind: 'media',
  });
  expect(remove({ kind: 'media', media: {} })).toEqual({ kind: 'media', removed: true });
  expect(remove({ kind: 'otp', number: '22670000001', service: 'Shop', id: 'x' })).toEqual({
    kind: 'otp',
    removed: true,
    service: 'Shop',
  });
  expect(contentRemover(undefined)({ kind: 'text', text: 'Bonjour' })).toEqual({ kind: 'text', removed: true });
  expect([isRemoved(text), isRemoved({ kind: 'text', text: 'removed' })]).toEqual([true, false]);
});

test.each([
  [
    {},
    'The database keeps texts, recipients and histories of deliveries for ever: retention.texts and retention.messages and retention.trail were not given.',
  ],
  [{ texts: '1 day', trail: '1 day' }, 'The database keeps recipients for ever: retention.messages was not given.'],
  [{ texts: '1 day', trail: '1 day', messages: '1 day' }, undefined],
])('the start says what is kept forever: %j', async (options, sentence) => {
  const storage = await SqliteMemory.open();
  const said: unknown[] = [];
  const log = jest.spyOn(Logger.prototype, 'log').mockImplementation((line: unknown) => void said.push(line));
  const clock = new FakeClock();
  const store = storage.store(RetentionStore);
  new Retention(
    resolveRetentionSettings(options),
    store,
    new Purger(clock, new Rounds(clock)),
    clock,
  ).onApplicationBootstrap();
  log.mockRestore();
  expect(said).toEqual(sentence === undefined ? [] : [sentence]);
});
