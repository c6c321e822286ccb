import { expect, test } from '@jest/globals';
import { DAY_MS } from '../../../src/common/time.js';
import { type ManagementOptions, resolveManagementSettings } from '../../../src/management/management-options.js';
import { MANAGEMENT_SECRET } from '../../support/management/management-app.js';

const resolve = (options: object = {}) =>
  resolveManagementSettings({ secret: MANAGEMENT_SECRET, ...options } as ManagementOptions);

test('the defaults are filled in', () => {
  const { keys, origins, session } = resolve();
  expect(keys).toHaveLength(1);
  expect([...origins]).toEqual([]);
  expect(session).toEqual({ idle: DAY_MS, longest: 30 * DAY_MS });
});

test('given options are kept', () => {
  const { keys, origins, session } = resolve({
    previousSecret: `${MANAGEMENT_SECRET} before`,
    origins: ['https://Desk.example.com:443', 'http://localhost:3000/'],
    session: { idle: '1 hour', longest: '2 weeks' },
  });
  expect(keys).toHaveLength(2);
  expect(keys[0]).not.toEqual(keys[1]);
  expect([...origins]).toEqual(['https://desk.example.com', 'http://localhost:3000']);
  expect(session).toEqual({ idle: 3_600_000, longest: 14 * DAY_MS });
});

test.each<[object, string | RegExp]>([
  [{ secret: undefined }, /^Option management is missing: \{ secret \}/],
  [{ secret: 'short' }, /^Option management.secret is too weak/],
  [{ secret: 'x'.repeat(64) }, /^Option management.secret is too weak/],
  [{ previousSecret: 'short' }, /^Option management.previousSecret is too weak/],
  [{ origins: 'https://desk.example.com' }, /^Option management.origins must be a list of origins/],
  [{ origins: ['desk.example.com'] }, /^Option management.origins\[0\] must be an origin/],
  [{ origins: ['https://desk.example.com/dashboard'] }, /^Option management.origins\[0\] must be an origin/],
  [{ origins: ['null'] }, /^Option management.origins\[0\] must be an origin/],
  [{ origins: ['https://*.example.com'] }, /^Option management.origins\[0\] must be an origin/],
  [{ session: { idle: '10 minutes' } }, /^Option management.session.idle must be a duration/],
  [{ session: { idle: 5 } }, /^Option management.session.idle must be a duration/],
  [{ session: { longest: '0 days' } }, /^Option management.session.longest must be a duration/],
  [
    { session: { absolute: '1 day' } },
    /^Option management.session.absolute is not known; the known options are idle, longest/,
  ],
])('wrong options are refused: %o', (wrong, sentence) => {
  expect(() => resolve(wrong)).toThrow(sentence);
});
