import assert from 'node:assert/strict';
import type { TestRunner } from '../test-runner.js';
import type { TransportFixture } from './transport-fixture.js';

/** Texts that an encoding or splitting error changes, by name. */
const TEXTS: Readonly<Record<string, string>> = {
  'one character': 'a',
  'the basic GSM-7 characters': '@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCÄÖÑÜ§¿abcäöñüà',
  'the extended GSM-7 characters': '€^{}[]~\\|',
  lines: 'un\ndeux\r\ntrois\n',
  'blanks at the ends': '  milieu  ',
  'what a form or JSON would read': 'a=b&c=d+e%20f;"g"<h>\\n{"i":1}',
  'French outside GSM-7': 'À bientôt, l’hôtel où tu as mangé des œufs — merci',
  Arabic: 'مرحبا، رمز التحقق الخاص بك',
  Chinese: '您的验证码是',
  'emoji with joiners': '👩‍👩‍👧‍👦🏳️‍🌈👍🏽',
  'combining accents as they are': 'e\u0301 é',
  '160 septets': 'a'.repeat(160),
  '161 septets': `${'a'.repeat(160)}b`,
  'an extended character across the 153rd septet': `${'a'.repeat(152)}€${'b'.repeat(20)}`,
  'only extended characters, three parts': '€'.repeat(200),
  '70 units of UCS-2': 'ê'.repeat(70),
  '71 units of UCS-2': 'ê'.repeat(71),
  'an emoji across the 67th unit': `${'ê'.repeat(66)}😀${'ê'.repeat(20)}`,
  'ten parts of GSM-7': Array.from({ length: 153 }, (_, index) => `[${index}]mot`)
    .join(' ')
    .slice(0, 1400),
  'ten parts of UCS-2': Array.from({ length: 670 }, (_, index) => (index % 7 === 0 ? 'ع' : 'ش')).join(''),
};

export function textTests({ test }: TestRunner, fixture: TransportFixture): void {
  for (const [name, text] of Object.entries(TEXTS)) {
    test(`arrives unchanged: ${name}`, async () => {
      const [result] = await fixture.submit([fixture.anSms(fixture.good(), { text })]);
      assert.equal(result?.kind, 'sent');
      assert.deepEqual(await fixture.received(fixture.good()), [{ signature: 'INFOS', text }]);
    });
  }

  test('all of them arrive at once, each at its own number', async () => {
    const batch = Object.values(TEXTS).map((text, index) => fixture.anSms(fixture.good(index), { text }));
    await fixture.submit(batch);
    for (const { number, text } of batch)
      assert.deepEqual(
        (await fixture.received(number)).map((sms) => sms.text),
        [text],
      );
  });

  test('signatures arrive unchanged: letters, digits, a short code', async () => {
    for (const [index, signature] of ['INFOS', 'Ma Banque', 'A&B-1_2.3', '36200', '22670000000'].entries()) {
      await fixture.submit([fixture.anSms(fixture.good(index), { signature })]);
      assert.equal((await fixture.received(fixture.good(index)))[0]?.signature, signature);
    }
  });
}
