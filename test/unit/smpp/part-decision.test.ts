import { describe, expect, test } from '@jest/globals';
import { decidePart } from '../../../src/transports/smpp/link/part-decision.js';
import type { SubmitOutcome } from '../../../src/transports/smpp/session/submit-outcome.js';
import { statusClass } from '../../../src/transports/smpp/status-class.js';

const answered = (status: number): SubmitOutcome => ({ kind: 'answered', status, messageId: '7', tlvs: [] });
const FIRST = { attempt: 1, begun: false, refusals: 1 };

test.each([
  ['throttled', [0x58]],
  ['temporary', [0x08, 0x14, 0x64]],
  [
    'permanent',
    [0x01, 0x02, 0x03, 0x0a, 0x0b, 0x15, 0x33, 0x34, 0x43, 0x48, 0x49, 0x50, 0x51, 0x61, 0x62, 0x65, 0xc1, 0xc4],
  ],
  ['unclear', [0x04, 0x05, 0x0c, 0x11, 0x45, 0x60, 0xfe, 0xff, 0x400, 0xffffffff]],
])('%s', (kind, statuses) => {
  expect(statuses.map(statusClass)).toEqual(statuses.map(() => kind));
});

describe('what is done', () => {
  test.each<[string, SubmitOutcome, typeof FIRST, object]>([
    ['taken', answered(0), FIRST, { kind: 'taken', id: '7' }],
    ['throttled', answered(0x58), FIRST, { kind: 'again', error: 'smpp: 0x58', code: '0x58', slower: true }],
    [
      'throttled in the middle',
      answered(0x58),
      { ...FIRST, begun: true },
      { kind: 'again', error: 'smpp: 0x58', code: '0x58', slower: true },
    ],
    ['with a full queue', answered(0x14), FIRST, { kind: 'retry', error: 'smpp: 0x14', code: '0x14' }],
    [
      'with a full queue in the middle',
      answered(0x14),
      { ...FIRST, begun: true },
      { kind: 'later', error: 'smpp: 0x14', code: '0x14' },
    ],
    ['temporary', answered(0x08), FIRST, { kind: 'retry', error: 'smpp: 0x08', code: '0x08' }],
    [
      'temporary in the middle',
      answered(0x08),
      { ...FIRST, begun: true, refusals: 9 },
      { kind: 'later', error: 'smpp: 0x08', code: '0x08' },
    ],
    ['permanent', answered(0x0b), FIRST, { kind: 'refused', error: 'smpp: 0x0b', code: '0x0b' }],
    [
      'permanent in the middle',
      answered(0x0b),
      { ...FIRST, begun: true },
      { kind: 'refused', error: 'smpp: 0x0b', code: '0x0b' },
    ],
    ['unclear', answered(0xff), FIRST, { kind: 'retry', error: 'smpp: 0xff', code: '0xff' }],
    [
      'unclear at the third attempt',
      answered(0xff),
      { ...FIRST, attempt: 3 },
      { kind: 'refused', error: 'smpp: 0xff', code: '0xff' },
    ],
    [
      'unclear in the middle',
      answered(0xff),
      { attempt: 9, begun: true, refusals: 2 },
      { kind: 'later', error: 'smpp: 0xff', code: '0xff' },
    ],
    [
      'unclear in the middle, the third time',
      answered(0xff),
      { attempt: 1, begun: true, refusals: 3 },
      { kind: 'refused', error: 'smpp: 0xff', code: '0xff' },
    ],
    [
      'unknown',
      { kind: 'unknown', reason: 'dropped', late: Promise.resolve(undefined) },
      FIRST,
      { kind: 'unknown', error: 'smpp: no answer' },
    ],
    [
      'not sent',
      { kind: 'not-sent', reason: 'closed' },
      FIRST,
      { kind: 'again', error: 'smpp: no link', slower: false },
    ],
    ['unsendable', { kind: 'unsendable', reason: 'too long' }, FIRST, { kind: 'refused', error: 'smpp: unsendable' }],
  ])('%s', (_, outcome, state, decision) => {
    expect(decidePart(outcome, state)).toEqual(decision);
  });
});
