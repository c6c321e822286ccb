import { describe, expect, test } from '@jest/globals';
import { RecipientNumbers } from '../../../src/common/phone-numbers/recipient-number.js';
import { type MsgappOptions, resolveMsgappSettings } from '../../../src/msgapp/msgapp-options.js';

const tariff = { text: 1, media: 2 };

describe('the options of a messaging-app channel', () => {
  test('have defaults, except for the tariff', () => {
    expect(resolveMsgappSettings({ tariff })).toEqual({
      channel: 'msgapp',
      tariff,
      pacing: {},
      delivery: {},
      sessions: {},
      recipients: new RecipientNumbers('home', undefined),
      connects: { waiting: 10, perHour: 60 },
    });
  });

  test('are kept as they are', () => {
    const options = {
      channel: 'wa-2',
      tariff: { text: 0, media: 1_000_000 },
      strictNumbers: true,
      pacing: { perMinute: Number.POSITIVE_INFINITY, jitter: 1 },
      delivery: { maxAttempts: 3 },
      sessions: { leaseMs: 10_000, staggerMs: 0 },
      connects: { waiting: 1, perHour: 1000 },
    };
    const { strictNumbers, ...same } = options;
    const recipients = new RecipientNumbers(strictNumbers, 'BF');
    expect(resolveMsgappSettings(options, 'BF')).toEqual({ ...same, recipients });
  });

  test.each<[string, object]>([
    ['tariff', {}],
    ['tariff.text', { tariff: { media: 1 } }],
    ['tariff.media', { tariff: { text: 1, media: 1.5 } }],
    ['tariff.text', { tariff: { text: -1, media: 1 } }],
    ['tariff.text', { tariff: { text: '1', media: 1 } }],
    ['channel', { tariff, channel: '' }],
    ['channel', { tariff, channel: 'Msgapp' }],
    ['channel', { tariff, channel: 'a/b' }],
    ['channel', { tariff, channel: 'sms' }],
    ['channel', { tariff, channel: 'send' }],
    ['channel', { tariff, channel: 'a'.repeat(33) }],
    ['pacing.perMinute', { tariff, pacing: { perMinute: 0 } }],
    ['pacing.perMinute', { tariff, pacing: { perMinute: Number.NaN } }],
    ['pacing.jitter', { tariff, pacing: { jitter: 1.1 } }],
    ['delivery.leaseMs', { tariff, delivery: { leaseMs: 0 } }],
    ['delivery.maxAttempts', { tariff, delivery: { maxAttempts: 101 } }],
    ['sessions.leaseMs', { tariff, sessions: { leaseMs: 999 } }],
    ['sessions.scanMs', { tariff, sessions: { scanMs: 3_600_001 } }],
    ['connects.waiting', { tariff, connects: { waiting: 0 } }],
    ['connects.perHour', { tariff, connects: { perHour: 1001 } }],
    ['sessions.answerMs', { tariff, sessions: { answerMs: 1.5 } }],
  ])('are refused with a sentence that names %s: %j', (name, options) => {
    expect(() => resolveMsgappSettings(options as MsgappOptions)).toThrow(
      expect.objectContaining({ name: 'MessagingOptionsError', message: expect.stringContaining(`msgapp.${name}`) }),
    );
  });
});
