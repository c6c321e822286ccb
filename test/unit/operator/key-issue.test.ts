import { afterEach, expect, jest, test } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { MessagingError } from '../../../src/common/errors.js';
import { runOperator } from '../../../src/operator/run-operator.js';

const made: unknown[] = [];
const refusal: { error?: Error } = {};

/** An application whose accounts the command uses. */
const app = {
  get: () => ({
    issueKey: async (account: string, options: object) => {
      if (refusal.error) throw refusal.error;
      made.push([account, options]);
      return { key: 'msgk_x', id: 'x' };
    },
  }),
  close: async () => {},
} as unknown as INestApplicationContext;

const said: unknown[] = [];
const run = (...words: string[]) => {
  for (const way of ['log', 'error'] as const)
    jest.spyOn(console, way).mockImplementation((text) => void said.push(text));
  return runOperator({ name: 'operator', open: async () => app }, words);
};

afterEach(() => {
  jest.restoreAllMocks();
  for (const list of [made, said]) list.length = 0;
  delete refusal.error;
});

test('key:issue limits the key by its options', async () => {
  const limits = ['--name', 'Till 1', '--scopes', 'sms:send,messages:read', '--cidrs', '192.0.2.0/24,2001:db8::/32'];
  const code = await run(
    'key:issue',
    'shop',
    ...limits,
    '--daily-units',
    '500',
    '--per-minute',
    '600',
    '--expires',
    '2027-12-31',
  );
  expect([code, said]).toEqual([0, ['{"key":"msgk_x","id":"x"}']]);
  const options = {
    name: 'Till 1',
    scopes: ['sms:send', 'messages:read'],
    cidrs: ['192.0.2.0/24', '2001:db8::/32'],
    dailyUnits: 500,
    perMinute: 600,
    expiresAt: Date.UTC(2027, 11, 31),
  };
  expect(made).toEqual([['shop', options]]);
});

test('key:issue without options makes an unrestricted key', async () => {
  expect(await run('key:issue', 'shop')).toBe(0);
  expect(made).toEqual([['shop', {}]]);
});

test('key:issue names what is wrong with its options, and makes no key', async () => {
  expect(await run('key:issue', 'shop', '--daily-units', 'many')).toBe(2);
  expect(await run('key:issue', 'shop', '--expires', 'soon')).toBe(1);
  expect(await run('key:issue', 'shop', '--grace', '5')).toBe(2);
  refusal.error = new MessagingError('error.field_invalid', { field: 'scopes' });
  expect(await run('key:issue', 'shop', '--scopes', 'all')).toBe(1);
  expect([made, said]).toEqual([
    [],
    [
      '<daily-units> must be an integer; it is "many".',
      'Refused: The field expires is invalid.',
      'key:issue has no option --grace.',
      'Refused: The field scopes is invalid.',
    ],
  ]);
});
