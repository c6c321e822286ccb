import { expect, test } from '@jest/globals';
import { RareWarnings } from '../../../src/common/log.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';

test('each sentence is said at once, and then once a minute with how often it would have been', () => {
  const clock = new FakeClock();
  const lines: string[] = [];
  const warnings = new RareWarnings({ warn: (line: string) => lines.push(line) }, clock);
  for (let time = 0; time < 1000; time++) warnings.warn('Forged.');
  warnings.warn('Unread.');
  expect(lines).toEqual(['Forged.', 'Unread.']);
  clock.advance(59_999);
  warnings.warn('Forged.');
  expect(lines).toHaveLength(2);
  clock.advance(1);
  warnings.warn('Forged.');
  warnings.warn('Unread.');
  expect(lines.slice(2)).toEqual(['Forged. (And 1000 times more since it was last said.)', 'Unread.']);
  warnings.warn('Forged.');
  expect(lines).toHaveLength(4);
});
