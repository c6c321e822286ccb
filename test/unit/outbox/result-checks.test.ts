import { afterEach, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { stackFrames } from '../../../src/common/log.js';
import type { DeliveryResult } from '../../../src/outbox/delivery/delivery-result.js';
import { checkResults } from '../../../src/outbox/delivery/result-checks.js';
import { messageId } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { DeliveryFixture } from '../../support/outbox/delivery-fixture.js';

const opened = closeAfterEach();
const judge = (answers: unknown, count: number) => checkResults<DeliveryResult>(answers, count);
const noAnswer = { kind: 'unknown', error: 'no_answer' };
const badAnswer = { kind: 'unknown', error: 'bad_answer' };
const sent = { kind: 'sent' };

describe('the results of a carrier', () => {
  test('are accepted unchanged if there is one of a known kind for each message', () => {
    const answers = [
      { kind: 'sent', reference: 'r', final: 'undelivered', error: 'absent' },
      { kind: 'retry', error: 'busy', route: 'x' },
      { kind: 'postponed', error: 'pace', until: 5 },
      { kind: 'refused', error: 'never', trail: [] },
      { kind: 'unknown', error: 'who knows' },
    ];
    const judged = judge(answers, 5);
    expect(judged).toEqual({ results: answers, fault: undefined });
    expect(judge([], 0).fault).toBeUndefined();
  });

  test.each<[unknown, unknown[], string]>([
    [undefined, [noAnswer, noAnswer], 'answered no list: it must answer one result for each of the 2, in their order'],
    ['sent', [noAnswer, noAnswer], 'answered no list: it must answer one result for each of the 2, in their order'],
    [[], [noAnswer, noAnswer], 'answered 0 results for 2: it must answer one for each, in their order'],
    [[sent], [sent, noAnswer], 'answered 1 result for 2: it must answer one for each, in their order'],
    [[sent, sent, sent], [sent, sent], 'answered 3 results for 2: it must answer one for each, in their order'],
    [
      [{ kind: 'delivered' }, sent],
      [badAnswer, sent],
      'answered a result of kind "delivered": it must be "sent", "retry", "postponed", "refused" or "unknown"',
    ],
    [[{ kind: '22670000000' }, sent], [badAnswer, sent], 'answered a result of another kind: it must be "sent",'],
    [[sent, 'sent'], [sent, badAnswer], 'answered a result that is no object'],
    [[sent, null], [sent, noAnswer], 'answered a result that is no object'],
    [[sent, { kind: 'sent', final: 'bounced' }], [sent, badAnswer], '`final` must be "delivered" or "undelivered"'],
    [[sent, { kind: 'postponed', error: 'x' }], [sent, badAnswer], '`until` must be a time in milliseconds'],
    [[sent, { kind: 'refused', error: 5 }], [sent, badAnswer], '`error` must be a text'],
    [[sent, { kind: 'sent', reference: 5 }], [sent, badAnswer], '`reference` must be a text'],
  ])('are corrected: %j', (answers, taken, fault) => {
    const judged = judge(answers, 2);
    expect(judged.results).toEqual(taken);
    expect(judged.fault).toContain(fault);
    expect(judged.fault).not.toContain('22670000000');
  });
});

describe('the place where an error was thrown', () => {
  test('is shown without the error’s message', () => {
    const error = new TypeError('22670000000 is no number\n    at the carrier (secret.ts:1:2)');
    const frames = stackFrames(error, 3);
    expect(frames).toMatch(/result-checks\.test\.ts:\d+:\d+/);
    expect(frames.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(3);
    expect(frames).not.toMatch(/22670000000|secret/);
  });

  test('is left out if it is not known', () => {
    expect(stackFrames('x', 3)).toBe('');
    expect(stackFrames(Object.assign(new Error('x'), { stack: undefined }), 3)).toBe('');
  });

  test('is shown even if the message was changed later', () => {
    const error = new Error('a secret\n    at all (x.ts:1:1)');
    error.message = 'other';
    expect(stackFrames(error, 3)).not.toContain('secret');
  });
});

describe('a worker', () => {
  const logged: string[] = [];
  afterEach(() => void logged.splice(0));
  const listen = () =>
    Logger.overrideLogger({ log() {}, warn() {}, error: (message: unknown) => void logged.push(String(message)) });

  const errorOf = async (world: DeliveryFixture, index: number) => {
    const [recipient] = await world.storage.outbox.recipients(messageId(index));
    return [recipient?.status, recipient?.error];
  };

  test.each<[unknown, string, string]>([
    [[], 'no_answer', 'answered 0 results for 1'],
    [[{ kind: 'delivered' }], 'bad_answer', 'kind "delivered"'],
  ])('logs what is wrong with %j', async (answers, error, sentence) => {
    listen();
    const world = opened(await DeliveryFixture.open('at-most-once'));
    world.channel.carrier = async () => JSON.parse(JSON.stringify(answers));
    world.worker();
    await world.acceptSome(1);
    await world.pass(100);
    expect(await errorOf(world, 0)).toEqual(['unknown', error]);
    expect(logged).toEqual([expect.stringContaining('Channel sms: the transport answered ')]);
    expect(logged[0]).toContain(sentence);
  });

  test('logs where a transport threw, and not its message', async () => {
    listen();
    const world = opened(await DeliveryFixture.open('at-most-once'));
    world.channel.carrier = async () => {
      throw new TypeError('cannot read 22670000000');
    };
    world.worker();
    await world.acceptSome(1);
    await world.pass(100);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatch(/^Channel sms: the transport threw TypeError\.\n +at .*result-checks\.test\.ts:\d+/);
    expect(logged[0]).not.toContain('22670000000');
  });
});
