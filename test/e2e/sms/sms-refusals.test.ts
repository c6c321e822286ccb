import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { SignatureService } from '../../../src/accounts/signatures/signature-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { describeServices, type Service } from '../../support/mounting/services.js';

const BF = '22670000000';
const SEND = { signature: 'INFOS', content: 'Bonjour', number: [BF] };

const refusal = (message: string, statusCode = 400, error = 'Bad Request') => ({ statusCode, message, error });
const NOT_STRING = (field: string) => refusal(`Le champ ${field} doit être une chaîne de caractères`);
const MISSING = (field: string) => refusal(`Le champ ${field} est obligatoire`);
const NOT_LIST = refusal('Le champ number doit être une liste de chaînes de caractères non vide');
const NOT_OBJECT = refusal('Le corps de la requête doit être un objet JSON');
const NO_JSON = refusal('Le corps de la requête n’est pas un JSON valide');
const EMPTY = refusal('Le message ne doit pas être vide');
const SIGNATURE = refusal('Signature non vérifiée ou invalide');
const BALANCE = refusal('Solde SMS insuffisant');
const UNAUTHORIZED = refusal('Clé API manquante ou invalide', 401, 'Unauthorized');
const NUMBER = (number: string) => refusal(`Numéro invalide : ${number}`);
const MEANT = (number: string) => refusal(`Numéro invalide : ${number}. Vouliez-vous dire 22670000000 ?`);
const NOT_STRINGS = (given: string) =>
  refusal(
    `Les numéros de number doivent être des chaînes, comme dans ["22670000001"], et non ${given} : un nombre JSON perdrait des zéros de tête`,
  );
const UNSENDABLE = (character: string) =>
  refusal(`Le message contient un caractère qui ne peut pas être envoyé : ${character}`);
const JSON_TYPE = { 'content-type': 'application/json' };

/** Everything that is checked later is wrong too, so the refusal shows which check comes first. */
const WORST = { signature: 'NOBODY', content: ' ', number: ['+226'] };

describeServices('a send that is refused', (start) => {
  let service: Service;
  let client: ApiClient;

  beforeAll(async () => {
    service = await start({
      sms: { tariff: { base: 1, international: 3, home: 'BF' }, maxRecipients: 5 },
    });
  });
  beforeEach(async () => {
    client = await service.client(1000);
  });

  /** Sends, and proves that the send had no effect. */
  const refused = async (body: unknown, headers = {}, by = client) => {
    const reply = await by.send(body, headers);
    expect(await client.balance()).toBe(1000);
    expect(await client.list()).toEqual({ items: [], next_cursor: null, searched_until: null });
    const { items } = await service.app.get(LedgerService, { strict: false }).entries(client.accountId);
    expect(items.map(({ kind }) => kind)).toEqual(['topup']);
    expect(reply.headers.get('content-type')).toMatch(/^application\/json\b/);
    expect(reply.status).toBe((reply.body as { statusCode: number }).statusCode);
    return reply.body;
  };

  test('names the key before anything else', async () => {
    expect(await refused(WORST, { 'x-api-key': 'nonsense' })).toEqual(UNAUTHORIZED);
    expect(await refused('{"', { ...JSON_TYPE, 'x-api-key': '' })).toEqual(UNAUTHORIZED);
  });

  test.each<[string, unknown, object]>([
    ['a list', [], NOT_OBJECT],
    ['a string', '"x"', NOT_OBJECT],
    ['null', 'null', NOT_OBJECT],
    ['a number', '12', NOT_OBJECT],
    ['half a body', '{"signature":', NO_JSON],
    ['bytes that are not UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), NO_JSON],
    ['nothing', '', MISSING('signature')],
    ['an empty object', {}, MISSING('signature')],
    ['no signature', { ...SEND, signature: undefined }, MISSING('signature')],
    ['a signature null', { ...SEND, signature: null }, MISSING('signature')],
    ['a signature that is a number', { ...SEND, signature: 123 }, NOT_STRING('signature')],
    ['a signature that is a list', { ...SEND, signature: ['INFOS'] }, NOT_STRING('signature')],
    ['a signature that is a long list', { ...SEND, signature: Array(6).fill(1) }, NOT_STRING('signature')],
    ['a content that is a number', { ...SEND, content: 5 }, NOT_STRING('content')],
    ['a content that is a boolean', { ...SEND, content: false }, NOT_STRING('content')],
    ['a content that is an object', { ...SEND, content: { text: 'x' } }, NOT_STRING('content')],
    ['no number', { ...SEND, number: undefined }, MISSING('number')],
    ['a number null', { ...SEND, number: null }, MISSING('number')],
    ['a string instead of the list', { ...SEND, number: BF }, NOT_LIST],
    ['an empty list', { ...SEND, number: [] }, NOT_LIST],
    ['an object instead of the list', { ...SEND, number: { 0: BF, length: 1 } }, NOT_LIST],
    ['a numeric entry', { ...SEND, number: [22670000000] }, NOT_STRINGS('22670000000')],
    ['a numeric entry among others', { ...SEND, number: [BF, 22670000001] }, NOT_STRINGS('22670000001')],
    ['an entry null', { ...SEND, number: [BF, null] }, NOT_STRINGS('null')],
    ['a list in the list', { ...SEND, number: [[BF]] }, NOT_STRINGS('object')],
    ['a number with a plus sign', { ...SEND, number: ['+22670000000'] }, MEANT('+22670000000')],
    ['a leading zero', { ...SEND, number: ['022670000000'] }, NUMBER('022670000000')],
    ['two leading zeros', { ...SEND, number: ['0022670000000'] }, MEANT('0022670000000')],
    ['6 digits', { ...SEND, number: ['226700'] }, NUMBER('226700')],
    ['16 digits', { ...SEND, number: ['2267000000000000'] }, NUMBER('2267000000000000')],
    ['an empty number', { ...SEND, number: [''] }, NUMBER('')],
    ['blanks in a number', { ...SEND, number: ['226 70 00 00 00'] }, MEANT('226 70 00 00 00')],
    ['a line break after a number', { ...SEND, number: [`${BF}\n`] }, MEANT(`${BF}\n`)],
    ['digits of another script', { ...SEND, number: ['٢٢٦٧٠٠٠٠٠٠٠'] }, MEANT('٢٢٦٧٠٠٠٠٠٠٠')],
    ['one bad number of many', { ...SEND, number: [BF, '33612345678', '06'] }, NUMBER('06')],
    ['too many recipients', { ...SEND, number: Array(6).fill(BF) }, refusal('Trop de destinataires : 6, maximum 5')],
  ])('names the shape before the text: %s', async (_what, body, answer) => {
    const worse = typeof body === 'object' && !ArrayBuffer.isView(body) && !Array.isArray(body);
    expect(await refused(body, JSON_TYPE)).toEqual(answer);
    if (worse && 'content' in (body ?? {}) && typeof (body as { content: unknown }).content === 'string') {
      expect(await refused({ ...body, content: '' }, JSON_TYPE)).toEqual(answer);
    }
  });

  test.each([
    ['empty', ''],
    ['blank', '   '],
    ['of tabs, line breaks and wide spaces', '\t\r\n\u00a0\u3000\u2028'],
    ['of a zero width space', '\u200b'],
    ['of fillers, blank braille and variation selectors', '\u3164\u2800\ufe0f\u00ad\ufeff\u2060\u180e'],
    ['null', null],
    ['missing', undefined],
  ])('names the empty text before the signature: %s', async (_what, content) => {
    expect(await refused({ ...SEND, content, signature: 'NOBODY' })).toEqual(EMPTY);
    expect(await refused({ ...SEND, content, signature: '' })).toEqual(EMPTY);
  });

  test('names the signature before the price, whatever string it is', async () => {
    const signatures = service.app.get(SignatureService, { strict: false });
    const other = await service.client();
    await signatures.register(client.accountId, 'PENDING');
    await signatures.register(client.accountId, 'REJECTED');
    await signatures.reject(client.accountId, 'REJECTED', 'Not yours');
    await signatures.register(other.accountId, 'THEIRS');
    await signatures.verify(other.accountId, 'THEIRS');
    const wrong = ['', ' ', 'NOBODY', 'infos', 'INFOS ', 'PENDING', 'REJECTED', 'THEIRS', '__proto__', 'constructor'];
    for (const signature of [...wrong, '\u0000', '\ud800', 'x'.repeat(10_000), "' OR 1=1 --"]) {
      // Unsendable, or far too expensive. Neither is checked yet.
      expect([signature, await refused({ ...SEND, signature, content: '\u0000' })]).toEqual([signature, SIGNATURE]);
      expect(await refused({ ...SEND, signature, content: 'a'.repeat(40_000) })).toEqual(SIGNATURE);
    }
    await signatures.verify(client.accountId, 'PENDING');
    expect(await client.send({ ...SEND, signature: 'PENDING' })).toMatchObject({
      status: 200,
      body: { signature: 'PENDING' },
    });
    await signatures.reject(client.accountId, 'PENDING');
    expect(await client.send({ ...SEND, signature: 'PENDING' })).toMatchObject({ status: 400, body: SIGNATURE });
  });

  test.each([
    ['half a pair', '{"content":"ok \\ud800 ok"}', 'U+D800'],
    ['the other half', '{"content":"\\udc00"}', 'U+DC00'],
    ['ESC', '{"content":"a\\u001bb"}', 'U+001B'],
    ['NUL', '{"content":"a\\u0000b"}', 'U+0000'],
    ['NUL in a text of GSM-7 letters only', '{"content":"a\\u0000"}', 'U+0000'],
  ])('names a character that no SMS can contain: %s', async (_what, text, character) => {
    const body = text.replace(/}$/, `,"signature":"INFOS","number":["${BF}"]}`);
    expect(await refused(body, JSON_TYPE)).toEqual(UNSENDABLE(character));
    expect((await client.post('sms/quote', body, JSON_TYPE)).body).toEqual(UNSENDABLE(character));
  });

  test('names the number of segments if there are more than 255', async () => {
    const answer = refusal('Message trop long : 256 segments, maximum 255');
    for (const content of ['a'.repeat(255 * 153 + 1), 'я'.repeat(255 * 67 + 1)]) {
      expect(await refused({ ...SEND, content })).toEqual(answer);
      expect((await client.post('sms/quote', { content, number: [BF] })).body).toEqual(answer);
    }
  });

  test('names the balance last, for a price of one unit more than there is', async () => {
    // 250 segments × (3 × 1 + 1) = 1000. One more recipient abroad is too expensive.
    const content = 'a'.repeat(250 * 153);
    const number = [BF, '33612345678', BF];
    expect(await refused({ ...SEND, content: `${content}a`, number })).toEqual(BALANCE);
    expect(await client.send({ ...SEND, content, number })).toMatchObject({ status: 200, body: { sms_units: 1000 } });
    expect(await client.balance()).toBe(0);
    expect((await client.send(SEND)).body).toEqual(BALANCE);
  });

  test('is a 415 for anything but JSON', async () => {
    const answer = refusal(
      'Le corps de la requête doit être du JSON (Content-Type: application/json)',
      415,
      'Unsupported Media Type',
    );
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'json']) {
      expect(await refused(JSON.stringify(SEND), { 'content-type': type })).toEqual(answer);
    }
  });
});

describeServices('a stricter service', (start) => {
  test('allows fewer segments and only numbers that can exist, and refuses in the same order', async () => {
    const { client } = await start({
      sms: { tariff: { base: 1, international: 3, home: 'BF' }, maxSegments: 2, strictNumbers: true },
    });
    const api = await client();
    // A Burkinabe number has eight digits after 226.
    expect((await api.send({ ...SEND, content: '', number: ['2267000000'] })).body).toEqual(NUMBER('2267000000'));
    expect((await api.send({ ...SEND, content: 'a'.repeat(307) })).body).toEqual(
      refusal('Message trop long : 3 segments, maximum 2'),
    );
    expect(await api.send({ ...SEND, content: 'a'.repeat(306) })).toMatchObject({ status: 200 });
    expect(await api.balance()).toBe(998);
  });

  test('speaks English, or uses the host’s own words', async () => {
    const english = await (await start({ locale: 'en' })).client(0);
    expect((await english.send({ ...SEND, content: '' })).body).toEqual(refusal('The message must not be empty'));
    expect((await english.send({ ...SEND, number: ['06'] })).body).toEqual(refusal('Invalid number: 06'));
    expect((await english.send(SEND)).body).toEqual(refusal('Insufficient SMS balance'));
    expect((await english.send(SEND, { 'x-api-key': 'no' })).body).toEqual(
      refusal('Missing or invalid API key', 401, 'Unauthorized'),
    );
    const own = await (
      await start({
        locale: { 'error.insufficient_balance': 'Kein Guthaben', 'error.invalid_number': 'Falsch: {number}' },
      })
    ).client(0);
    expect((await own.send(SEND)).body).toEqual(refusal('Kein Guthaben'));
    expect((await own.send({ ...SEND, number: ['06'] })).body).toEqual(refusal('Falsch: 06'));
    expect((await own.send({ ...SEND, content: '' })).body).toEqual(EMPTY);
  });
});
