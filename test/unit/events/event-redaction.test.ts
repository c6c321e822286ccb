import { expect, test } from '@jest/globals';
import { withMaskedNumbers, withoutNumber, withoutTexts } from '../../../src/events/event-redaction.js';

const [OWN, OTHER] = ['22670000001', '22670000002'];
const sms = { id: 'in-1', from: OWN, to: '36000', text: 'Oui', received_at: 'now' };
const app = {
  id: 'in-2',
  channel: 'wa',
  session: 's',
  from: OWN,
  kind: 'document',
  text: 'Voici',
  received_at: 'now',
  media: { mimetype: 'text/plain', size: 3, file_name: 'Awa.txt' },
  refers_to: { id: 'm', text: 'Bonjour' },
};
const delivery = { id: 'm', number: OWN, status: 'failed', error: `unknown ${OWN}`, metadata: { name: 'Awa' } };

test('texts, file names and metadata are removed; everything else stays', () => {
  expect(withoutTexts(sms)).toEqual({ ...sms, text: '' });
  expect(withoutTexts(app)).toEqual({
    ...app,
    text: '',
    media: { ...app.media, file_name: null },
    refers_to: { id: 'm', text: null },
  });
  expect(withoutTexts(delivery)).toEqual({ ...delivery, metadata: null });
  expect(withoutTexts({ ...delivery, metadata: null })).toEqual({ ...delivery, metadata: null });
});

test('numbers are masked, and so are fields that may quote them; a sender name is not a number', () => {
  expect(withMaskedNumbers(delivery)).toEqual({ ...delivery, number: '226******01', error: null });
  expect(withMaskedNumbers({ ...sms, to: 'INFOS' })).toEqual({ ...sms, from: '226******01', to: 'INFOS' });
});

test('an erased number disappears from events with its texts, in both directions and about it; other numbers stay', () => {
  const erased = '*'.repeat(OWN.length);
  expect(withoutNumber(OWN)(delivery)).toEqual({ ...delivery, number: erased, error: null, metadata: null });
  expect(withoutNumber(OWN)(sms)).toEqual({ ...sms, from: erased, text: '' });
  expect(withoutNumber(OTHER)(sms)).toBe(sms);
});

test('a second redaction finds nothing left to remove', () => {
  for (const redact of [withoutTexts, withMaskedNumbers, withoutNumber(OWN)]) {
    for (const data of [sms, app, delivery]) {
      const once = redact(data);
      expect(redact(once)).toBe(once);
    }
  }
});
