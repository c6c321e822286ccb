import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { readWebhook } from '../../../../src/transports/whatsapp-cloud/webhook-content.js';
import { challengeOf, isSigned } from '../../../../src/transports/whatsapp-cloud/webhook-proof.js';

const NOW = 1_795_000_000_000;
const PHONE = '106540352242922';
const ABOUT = { id: 'wamid.1', from: '22670000002', timestamp: '1794999000' };

function webhook(value: object, field = 'messages'): unknown {
  const metadata = { display_phone_number: '22670000001', phone_number_id: PHONE };
  const changes = [{ field, value: { messaging_product: 'whatsapp', metadata, ...value } }];
  return { object: 'whatsapp_business_account', entry: [{ id: '1', changes }] };
}

function message(fields: object): unknown {
  return readWebhook(webhook({ messages: [{ ...ABOUT, ...fields }] }), NOW).messages[0];
}

describe('the proof of a call', () => {
  const body = Buffer.from('{"entry":[ ]}');
  const signed = (secret: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

  test('is the signature over the bytes, under the new or the old secret', () => {
    expect(isSigned(body, signed('new'), ['new', 'old'])).toBe(true);
    expect(isSigned(body, signed('old'), ['new', 'old'])).toBe(true);
    expect(isSigned(body, signed('older'), ['new', 'old'])).toBe(false);
    expect(isSigned(Buffer.from('{"entry":[]}'), signed('new'), ['new'])).toBe(false);
    expect(isSigned(body, undefined, ['new'])).toBe(false);
    expect(isSigned(body, signed(''), [])).toBe(false);
  });

  test('of the URL is our token, and the answer is the challenge without markup', () => {
    const query = (fields: object) =>
      new URLSearchParams({
        'hub.mode': 'subscribe',
        'hub.verify_token': 'ours',
        'hub.challenge': '1158201444',
        ...fields,
      });
    expect(challengeOf(query({}), 'ours')).toBe('1158201444');
    expect(challengeOf(query({ 'hub.verify_token': 'theirs' }), 'ours')).toBeUndefined();
    expect(challengeOf(query({ 'hub.mode': 'x' }), 'ours')).toBeUndefined();
    expect(challengeOf(query({ 'hub.challenge': '<script>' }), 'ours')).toBeUndefined();
    expect(challengeOf(new URLSearchParams(), 'ours')).toBeUndefined();
  });
});

describe('the content of a call', () => {
  test('has the states of messages, with the code of a failure and the category', () => {
    const status = { ...ABOUT, status: 'delivered', recipient_id: ABOUT.from, pricing: { category: 'utility' } };
    const failed = { ...ABOUT, status: 'failed', errors: [{ code: 131047, title: 'Re-engagement message' }] };
    const { statuses } = readWebhook(webhook({ statuses: [status, failed, { ...ABOUT, status: 'new' }] }), NOW);
    const known = { phoneNumberId: PHONE, reference: 'wamid.1', at: 1_794_999_000_000 };
    expect(statuses).toEqual([
      { ...known, status: 'delivered', category: 'utility' },
      { ...known, status: 'failed', error: 'cloud_131047' },
    ]);
  });

  test('has texts with the message that they answer', () => {
    const text = { type: 'text', text: { body: 'Merci' }, context: { id: 'wamid.0' } };
    expect(message(text)).toEqual({
      phoneNumberId: PHONE,
      id: 'wamid.1',
      chat: ABOUT.from,
      from: ABOUT.from,
      kind: 'text',
      text: 'Merci',
      refersTo: { reference: 'wamid.0' },
      at: 1_794_999_000_000,
    });
  });

  test('has people without a number under their id', () => {
    const hidden = { from: undefined, from_user_id: 'BR.1502576394655843', type: 'text', text: { body: 'Olá' } };
    expect(message(hidden)).toMatchObject({ chat: 'BR.1502576394655843', from: undefined, text: 'Olá' });
  });

  test.each([
    [{ type: 'button', button: { text: 'Oui', payload: 'yes' } }, 'Oui'],
    [{ type: 'interactive', interactive: { type: 'button_reply', button_reply: { id: '1', title: 'Oui' } } }, 'Oui'],
    [{ type: 'interactive', interactive: { type: 'list_reply', list_reply: { id: '1', title: 'Lundi' } } }, 'Lundi'],
    [{ type: 'location', location: { latitude: 12.37, longitude: -1.52, name: 'Gare' } }, 'Gare\ngeo:12.37,-1.52'],
    [
      { type: 'contacts', contacts: [{ name: { formatted_name: 'Awa' }, phones: [{ phone: '+226 70' }] }] },
      'Awa +226 70',
    ],
    [{ type: 'order', order: { product_items: [{ product_retailer_id: 'di9', quantity: 2 }] } }, '2 di9'],
    [{ type: 'location', location: { name: 'Gare' } }, undefined],
    [{ type: 'unsupported', errors: [{ code: 131051 }] }, undefined],
    [{}, undefined],
  ])('shows what has no file as a text: %j', (fields, text) => {
    expect(message(fields)).toMatchObject({ kind: 'text', text });
  });

  test('has reactions, and those that were taken back', () => {
    const refersTo = { reference: 'wamid.0' };
    const reaction = { message_id: 'wamid.0', emoji: '👍🏾' };
    expect(message({ type: 'reaction', reaction })).toMatchObject({ kind: 'reaction', text: '👍🏾', refersTo });
    const none = { type: 'reaction', reaction: { message_id: 'wamid.0', emoji: '' } };
    expect(message(none)).toMatchObject({ kind: 'reaction', text: undefined, refersTo });
  });

  test('has files by their id', () => {
    const document = { id: '77', mime_type: 'application/pdf', filename: 'a.pdf', caption: 'Le devis' };
    const file = { id: '77', mimetype: 'application/pdf', fileName: 'a.pdf' };
    expect(message({ type: 'document', document })).toMatchObject({ kind: 'document', text: 'Le devis', file });
    const audio = { id: '78', mime_type: 'audio/ogg; codecs=opus', voice: true };
    expect(message({ type: 'audio', audio })).toMatchObject({ kind: 'voice', file: { id: '78' } });
    expect(message({ type: 'sticker', sticker: { id: '79' } })).toMatchObject({ kind: 'image' });
  });

  test('may be anything else, of which nothing is read', () => {
    const nothing = { statuses: [], messages: [] };
    for (const body of [null, 1, 'x', [], {}, { entry: 1 }, { entry: [null, { changes: [{ field: 'messages' }] }] }]) {
      expect(readWebhook(body, NOW)).toEqual(nothing);
    }
    expect(readWebhook(webhook({ messages: [{ ...ABOUT, type: 'text' }] }, 'account_update'), NOW)).toEqual(nothing);
    expect(readWebhook(webhook({ messages: [{ type: 'text' }, null], statuses: [3] }), NOW)).toEqual(nothing);
    const odd = readWebhook(webhook({ messages: [{ ...ABOUT, timestamp: 'soon', type: '__proto__' }] }), NOW);
    expect(odd.messages).toMatchObject([{ at: NOW, text: undefined }]);
  });
});
