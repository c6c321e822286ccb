import { expect, test } from '@jest/globals';
import { isEmoji } from '../../../src/msgapp/received/emoji.js';

test.each(['👍', '👍🏽', '❤️', '❤', '🇧🇫', '👨‍👩‍👧', '1️⃣', '☺', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'])('%s is one emoji', (text) => {
  expect(isEmoji(text)).toBe(true);
});

test.each(['', ' ', 'a', 'ok', '1', '👍👍', '👍 ', ':)', '🏽x', '\u200d', '\ufe0f', '🇧', '\ud83d'])(
  '%j is none',
  (text) => {
    expect(isEmoji(text)).toBe(false);
  },
);
