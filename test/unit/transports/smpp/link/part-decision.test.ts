import { describe, expect, test } from '@jest/globals';
import type { SubmitOutcome } from '../../../../../src/transports/smpp/bind/submit-outcome.js';
import { decidePart } from '../../../../../src/transports/smpp/link/part-decision.js';

const answered = (status: number, messageId = '7'): SubmitOutcome => ({
  kind: 'answered',
  status,
  messageId,
  tlvs: [],
});
const FIRST = { attempt: 1, begun: false, refusals: 1, toBlame: false };

describe('the decision about a part', () => {
  test.each<[string, SubmitOutcome, typeof FIRST, object]>([
    ['taken', answered(0), FIRST, { kind: 'taken', id: '7' }],
    ['taken, with blanks around its id', answered(0, ' 0a7 \r\n'), FIRST, { kind: 'taken', id: '0a7' }],
    ['taken without an id', answered(0, ' '), FIRST, { kind: 'taken', id: '' }],
    [
      'an error of the bind, at any attempt',
      answered(0x04),
      { ...FIRST, attempt: 20 },
      { kind: 'bind', error: 'smpp: 0x04', code: '0x04', reason: expect.any(String) },
    ],
    [
      'an error of the route in the middle',
      answered(0x15),
      { ...FIRST, begun: true, refusals: 9 },
      { kind: 'route', error: 'smpp: 0x15', code: '0x15', reason: expect.any(String) },
    ],
    [
      'an error of the bind for a message that is to blame',
      answered(0x04),
      { ...FIRST, attempt: 2, toBlame: true },
      { kind: 'retry', error: 'smpp: 0x04', code: '0x04' },
    ],
    [
      'an error of the route for a message that is to blame, the third time',
      answered(0x15),
      { ...FIRST, attempt: 3, toBlame: true },
      { kind: 'refused', error: 'smpp: 0x15', code: '0x15' },
    ],
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
      { ...FIRST, attempt: 9, begun: true, refusals: 2 },
      { kind: 'later', error: 'smpp: 0xff', code: '0xff' },
    ],
    [
      'unclear in the middle, the third time',
      answered(0xff),
      { ...FIRST, begun: true, refusals: 3 },
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
