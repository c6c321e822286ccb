import { describe, expect, test } from '@jest/globals';
import { MessagingOptionsError } from '../../../src/common/errors.js';
import { resolveWebhookSettings } from '../../../src/webhooks/webhook-options.js';

const PEPPER = 'a pepper for tests, 0123456789 abcdef';

/** The error for options that JavaScript would let a host write. */
function refusal(given: unknown): string {
  try {
    Reflect.apply(resolveWebhookSettings, undefined, [given]);
  } catch (error) {
    expect(error).toBeInstanceOf(MessagingOptionsError);
    return error instanceof Error ? error.message : '';
  }
  throw new Error('It was not refused.');
}

describe('the options of webhooks', () => {
  test('have defaults', () => {
    const { keys, ...settings } = resolveWebhookSettings({ pepper: PEPPER });
    expect(keys).toHaveLength(1);
    expect(settings).toEqual({ maskNumbers: false, allow: { loopback: false, origins: new Set() } });
  });

  test('give a key for each pepper, the current one first', () => {
    const earlier = resolveWebhookSettings({ pepper: PEPPER });
    const { keys } = resolveWebhookSettings({ pepper: `${PEPPER} 2`, previousPepper: PEPPER });
    expect(keys).toHaveLength(2);
    expect(keys[1]).toEqual(earlier.keys[0]);
    expect(keys[0]).not.toEqual(earlier.keys[0]);
  });

  test('may be given', () => {
    const given = resolveWebhookSettings({
      pepper: PEPPER,
      maskNumbers: true,
      keep: '2 weeks',
      allow: ['http://10.0.0.5:8080'],
    });
    expect(given).toMatchObject({ maskNumbers: true, keepMs: 1_209_600_000 });
    expect([...given.allow.origins]).toEqual(['http://10.0.0.5:8080']);
  });

  test.each<[unknown, string]>([
    [undefined, 'Option webhooks is missing: { pepper }'],
    [{}, 'Option webhooks is missing: { pepper }'],
    [{ pepper: 'short' }, 'Option webhooks.pepper is too weak'],
    [{ pepper: 'a'.repeat(40) }, 'Option webhooks.pepper is too weak'],
    [{ pepper: PEPPER, previousPepper: '' }, 'Option webhooks.previousPepper is too weak'],
    [{ pepper: PEPPER, maskNumbers: 1 }, 'Option webhooks.maskNumbers must be true or false.'],
    [{ pepper: PEPPER, allow: 'all' }, 'Option webhooks.allow must be "none", "loopback" or a list of origins.'],
    [{ pepper: PEPPER, allow: ['https://a/b'] }, 'Option webhooks.allow[0] must be an origin'],
    [{ pepper: PEPPER, keep: 30 }, 'Option webhooks.keep must be a duration such as "30 days"'],
    [{ pepper: PEPPER, retries: 1 }, 'Option webhooks.retries is not known'],
  ])('are refused if they are wrong: %j', (given, sentence) => {
    const said = refusal(given);
    expect(said).toContain(sentence);
    expect(said).not.toContain('a pepper for tests');
  });
});
