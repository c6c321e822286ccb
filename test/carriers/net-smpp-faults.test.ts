import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { SmppLinkOptions } from '../../src/transports/smpp/smpp-options.js';
import { closeAfterEach } from '../support/common/opened.js';
import { hasNetSmpp, type NetSmppScript } from '../support/transports/carriers/net-smpp.js';
import { kindsOf, NetSmppCarriage } from '../support/transports/carriers/net-smpp-carriage.js';
import { manySms } from '../support/transports/smpp-fixture.js';

const suite = hasNetSmpp() ? describe : describe.skip;

suite('Net::SMPP as a carrier that', () => {
  const opened = closeAfterEach();

  beforeAll(() => Logger.overrideLogger(false));

  const carrying = async (script: NetSmppScript, link: Partial<SmppLinkOptions> = {}) =>
    opened(await NetSmppCarriage.start(script, link));

  test('throttles every fifth submit: each SMS is sent once in the end', async () => {
    const carriage = await carrying({ throttleEvery: 5 });
    const sms = manySms(200);
    const results = await carriage.submit(sms);
    expect(kindsOf(results)).toEqual({ sent: 200 });
    // 249 submits are needed for 200 to be taken.
    expect(carriage.smsc.count('throttled')).toBe(49);
    await carriage.smsc.happened('receipt', 200);
    carriage.expectReceipts(sms, results);
    carriage.expectNoneTwice(sms, results);
  });

  test('falls silent: pending SMS are unknown, and nothing is submitted twice', async () => {
    const carriage = await carrying({ silentFrom: 21 }, { responseTimeoutMs: 500 });
    const sms = manySms(31);
    const results = await carriage.submit(sms);
    expect(kindsOf(results)).toEqual({ sent: 20, unknown: 11 });
    carriage.expectNoneTwice(sms, results);
  });

  test.each<[string, NetSmppScript, 'dropped' | 'garbage']>([
    ['hangs up in the middle of an answer', { dropEvery: 13 }, 'dropped'],
    ['answers with an invalid length', { garbageEvery: 13 }, 'garbage'],
  ])('%s: each is sent or unknown, and none was submitted twice', async (_, script, fault) => {
    const carriage = await carrying(script);
    const sms = manySms(200);
    const results = await carriage.submit(sms);
    const { sent = 0, unknown = 0, ...others } = kindsOf(results);
    expect(others).toEqual({});
    expect(sent + unknown).toBe(200);
    expect(carriage.smsc.count(fault)).toBeGreaterThanOrEqual(6);
    expect(unknown).toBeGreaterThanOrEqual(carriage.smsc.count(fault));
    // At most the submits that were on the wire each time.
    expect(unknown).toBeLessThanOrEqual(carriage.smsc.count(fault) * 10);
    carriage.expectNoneTwice(sms, results);
  });
});
