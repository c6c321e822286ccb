import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { ErasureService } from '../../../src/outbox/retention/erasure-service.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { OptOutService } from '../../../src/sms/opt-out/opt-out-service.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../../support/common/eventually.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { call } from '../../support/http/http-client.js';
import { describeService, describeServices, type Service } from '../../support/mounting/services.js';

const AWA = '22670000001';
const PAUL = '22670000002';
const ANNE = '33600000003';
const SEND = { signature: 'INFOS', content: 'Bonjour {name}' };
const to = (...entries: readonly (readonly [string, object?])[]) =>
  entries.map(([number, vars]) => ({ number, ...(vars && { vars }) }));
const named = (...numbers: readonly string[]) => to(...numbers.map((number) => [number, { name: 'Awa' }] as const));
const refusal = (message: string) => ({ statusCode: 400, message, error: 'Bad Request' });

describeService('personal texts', (start) => {
  let clock: FakeClock;
  let service: Service;
  let client: ApiClient;

  beforeAll(async () => {
    clock = new FakeClock();
    service = await start(
      {
        clock: { useValue: clock },
        sms: { tariff: { base: 1, international: 3, home: 'BF' }, maxRecipients: 100_000, maxSegments: 10 },
      },
      { imports: [SandboxModule.forRoot()] },
    );
  });
  beforeEach(async () => {
    client = await service.client(1000);
  });

  const phone = async (number: string) => {
    const { body } = await call(`${service.url}/sandbox/phones/${number}/messages`);
    return (body as { text: string }[]).map(({ text }) => text);
  };
  const ended = (smsId: string) =>
    eventually(
      () => client.details(smsId),
      ({ recipients }) => recipients.every(({ status }) => ['delivered', 'failed', 'undelivered'].includes(status)),
      { clock, stepMs: 50 },
    );
  const sound = async () => expect(await service.app.get(LedgerService, { strict: false }).checkLedger()).toEqual([]);

  test('each phone gets its own text, split, priced and charged by itself', async () => {
    const content = 'Bonjour {name}, {{code}} {code} {name}';
    const recipients = to(
      [AWA, { name: 'Awa', code: '{name}' }],
      [PAUL, { name: 'Paul'.repeat(50), code: 'é', unused: 'x' }],
      // Not in GSM-7: the same length takes UCS-2 and more segments.
      [ANNE, { name: 'ê'.repeat(40), code: '' }],
    );
    const receipt = await client.sent({ ...SEND, content, to: recipients });
    expect(receipt).toMatchObject({ number: [AWA, PAUL, ANNE], sms_units: 1 + 3 + 2 * 3 });
    const texts = [
      'Bonjour Awa, {code} {name} Awa',
      `Bonjour ${'Paul'.repeat(50)}, {code} é ${'Paul'.repeat(50)}`,
      `Bonjour ${'ê'.repeat(40)}, {code}  ${'ê'.repeat(40)}`,
    ];
    const details = await ended(receipt.smsID);
    expect(details).toMatchObject({ content, segments: null, sms_units: 10, refunded_units: 0 });
    expect(details.recipients).toMatchObject([
      { number: AWA, content: texts[0], units: 1 },
      { number: PAUL, content: texts[1], units: 3 },
      { number: ANNE, content: texts[2], units: 6 },
    ]);
    expect(await client.recipients(receipt.smsID)).toEqual(details.recipients);
    expect([await phone(AWA), await phone(PAUL), await phone(ANNE)]).toEqual(texts.map((text) => [text]));
    expect((await client.list()).items).toMatchObject([{ content, segments: null, number: [AWA, PAUL, ANNE] }]);
    expect(await client.balance()).toBe(990);
    await sound();
  });

  test('a text without variables is one text for all, with its braces single', async () => {
    const { smsID } = await client.sent({ ...SEND, content: '{{Bonjour}}', to: to([AWA], [PAUL, { name: 'x' }]) });
    expect(await client.details(smsID)).toMatchObject({
      content: '{Bonjour}',
      segments: 1,
      recipients: [
        { number: AWA, content: null },
        { number: PAUL, content: null },
      ],
    });
  });

  test('braces in a plain send are literal', async () => {
    const content = 'Bonjour {name} {{ } {1}';
    const number = '22670000040';
    const { smsID } = await client.sent({ ...SEND, content, number: [number] });
    expect(await ended(smsID)).toMatchObject({ content, recipients: [{ content: null }] });
    expect(await phone(number)).toEqual([content]);
  });

  test('a number that is given twice gets the first entry, also in another spelling', async () => {
    const mexican = ['525512345678', '5215512345678'];
    const { smsID, number } = await client.sent({
      ...SEND,
      to: to([AWA, { name: 'Awa' }], [AWA], [mexican[0] ?? '', { name: 'Luz' }], [mexican[1] ?? '', { name: 'Eva' }]),
    });
    expect(number).toEqual([AWA, mexican[0]]);
    const { recipients } = await client.details(smsID);
    expect(recipients.map(({ content }) => content)).toEqual(['Bonjour Awa', 'Bonjour Luz']);
  });

  test('each recipient that fails is refunded its own units', async () => {
    const failing = ['22670990001', '33600990001'];
    const { smsID, sms_units } = await client.sent({
      ...SEND,
      content: '{text}',
      to: to(
        [failing[0] ?? '', { text: 'a'.repeat(161) }],
        [failing[1] ?? '', { text: 'ê'.repeat(71) }],
        [AWA, { text: 'a' }],
      ),
    });
    expect(sms_units).toBe(2 + 6 + 1);
    const details = await ended(smsID);
    expect(details.refunded_units).toBe(8);
    expect(details.recipients.map((each) => each.refunded_units)).toEqual([2, 6, 0]);
    expect(await client.balance()).toBe(999);
    await sound();
  });

  test('a recipient that has opted out costs nothing, and its values are not stored', async () => {
    await service.app.get(OptOutService, { strict: false }).add({ signature: 'INFOS' }, ['22670000050']);
    const { smsID, sms_units } = await client.sent({ ...SEND, to: named('22670000050', AWA) });
    expect(sms_units).toBe(1);
    expect(await client.details(smsID)).toMatchObject({
      recipients: [{ status: 'failed', error: 'opted_out', units: 0, content: null }, { content: 'Bonjour Awa' }],
    });
    const stored = await service.app.get(OutboxStore, { strict: false }).recipients(smsID);
    expect(stored.map(({ vars }) => vars)).toEqual([undefined, { name: 'Awa' }]);
  });

  test('the same Idempotency-Key replays the same recipients, and refuses others', async () => {
    const headers = { 'idempotency-key': 'personal' };
    const first = await client.sent({ ...SEND, to: named(AWA) }, headers);
    expect(await client.sent({ to: named(AWA), ...SEND }, headers)).toEqual(first);
    const other = await client.send({ ...SEND, to: to([AWA, { name: 'Awah' }]) }, headers);
    expect(other.status).toBe(422);
    expect(await client.balance()).toBe(999);
  });

  test('an erased number loses its text, the others keep theirs', async () => {
    const erased = '22670000060';
    const { smsID } = await client.sent({ ...SEND, to: to([erased, { name: 'Zalissa' }], [AWA, { name: 'Awa' }]) });
    await ended(smsID);
    await service.app.get(ErasureService, { strict: false }).erase(erased);
    expect(await client.details(smsID)).toMatchObject({
      content: SEND.content,
      recipients: [{ number: '*'.repeat(11), content: null }, { content: 'Bonjour Awa' }],
    });
  });

  test('a quote says how many recipients get how many parts, and which text is the longest', async () => {
    const quote = await client.post('sms/quote', {
      content: 'Bonjour {name}',
      to: to(
        [AWA, { name: 'Awa' }],
        [PAUL, { name: 'p'.repeat(160) }],
        [ANNE, { name: 'ê'.repeat(70) }],
        ['22670000004', { name: 'ô' }],
      ),
    });
    expect([quote.status, quote.body]).toEqual([
      200,
      {
        encoding: 'UCS-2',
        segments: 2,
        characters: 168,
        units_per_recipient: [
          { number: AWA, units: 1 },
          { number: PAUL, units: 2 },
          { number: ANNE, units: 6 },
          { number: '22670000004', units: 1 },
        ],
        sms_units: 10,
        not_gsm7: ['ê', 'ô'],
        distribution: [
          { segments: 1, recipients: 2, units: 2 },
          { segments: 2, recipients: 2, units: 8 },
        ],
        longest: { number: PAUL, characters: 168, segments: 2 },
      },
    ]);
    const same = await client.post('sms/quote', { content: 'Bonjour', to: to([AWA], [ANNE]) });
    expect(same.body).toMatchObject({
      distribution: [{ segments: 1, recipients: 2, units: 4 }],
      longest: { number: AWA, characters: 7, segments: 1 },
    });
    const plain = await client.post('sms/quote', { content: 'Bonjour', number: [AWA] });
    expect(Object.keys(plain.body as object)).not.toContain('distribution');
    expect(await client.balance()).toBe(1000);
  });

  const MANY = 100_000;
  test('of 100 000 recipients, the last but one without a value is named, and nothing is charged', async () => {
    const all = Array.from({ length: MANY }, (_, index) => ({
      number: `2267${String(index).padStart(7, '0')}`,
      vars: index === MANY - 2 ? { nom: 'x' } : { name: `Awa ${index}` },
    }));
    await service.app.get(LedgerService, { strict: false }).topUp(client.accountId, 1_000_000);
    const reply = await client.send({ ...SEND, to: all });
    expect(reply.body).toEqual(refusal('Le destinataire 22670099998 n’a pas de valeur pour la variable name'));
    expect(reply.headers.get('x-error-code')).toBe('variable_missing');
    expect(await client.balance()).toBe(1_001_000);
    expect((await client.list()).items).toEqual([]);
  });
});

describeServices('personal texts that are refused', (start) => {
  let client: ApiClient;
  beforeAll(async () => {
    const service = await start({
      sms: { tariff: { base: 1, international: 3, home: 'BF' }, maxRecipients: 3, maxSegments: 2 },
    });
    client = await service.client(1000);
  });

  test.each<[string, object, string, string]>([
    ['both number and to', { number: [AWA] }, 'fields_exclusive', 'Les champs number et to ne vont pas ensemble'],
    ['neither', { to: null }, 'field_missing', 'Le champ number est obligatoire'],
    ...[[], {}, 'x', 1, [AWA], [null], [[AWA]].map(() => 7)].map((given): [string, object, string, string] => [
      `to is ${JSON.stringify(given)}`,
      { to: given },
      'field_not_list',
      'Le champ to doit être une liste non vide d’objets { number, vars }',
    ]),
    ['too many', { to: named(AWA, PAUL, ANNE, AWA) }, 'too_many_recipients', 'Trop de destinataires : 4, maximum 3'],
    ['a wrong number', { to: named(AWA, '+226') }, 'invalid_number', 'Numéro invalide : +226'],
    [
      'a number that is a number',
      { to: [{ number: 22670000001 }] },
      'field_not_list',
      'Les numéros de to doivent être des chaînes, comme dans ["22670000001"], et non 22670000001 : un nombre JSON perdrait des zéros de tête',
    ],
    [
      'vars that are a list',
      { to: [{ number: AWA, vars: [] }] },
      'field_not_object',
      'Le champ to[0].vars doit être un objet',
    ],
    [
      'a value that is a number',
      { to: [...named(AWA), { number: PAUL, vars: { name: 7 } }] },
      'field_not_string',
      'Le champ to[1].vars.name doit être une chaîne de caractères',
    ],
    [
      'a name of 10 000 characters',
      { to: to([AWA, { name: 'x'.repeat(10_000) }]) },
      'field_too_long',
      'Le champ to[0].vars.name a plus de 500 caractères',
    ],
    [
      'a value that is null',
      { to: to([AWA, { name: null }]) },
      'variable_missing',
      'Le destinataire 22670000001 n’a pas de valeur pour la variable name',
    ],
    [
      'no vars',
      { to: to([AWA, { name: 'Awa' }], [PAUL], [ANNE]) },
      'variable_missing',
      'Le destinataire 22670000002 n’a pas de valeur pour la variable name',
    ],
    [
      'a missing value after a text that is too long',
      { to: to([AWA, { name: 'x'.repeat(400) }], [PAUL]) },
      'variable_missing',
      'Le destinataire 22670000002 n’a pas de valeur pour la variable name',
    ],
    [
      'a stray brace',
      { content: 'Bonjour {prénom}', to: named(AWA) },
      'stray_brace',
      'Accolade inattendue au caractère 9 du message : une variable s’écrit {nom} (lettres sans accent, chiffres et _), une accolade {{ ou }}',
    ],
    ['an empty text', { content: ' ', to: named(AWA) }, 'empty_message', 'Le message ne doit pas être vide'],
    [
      'a text that its values leave empty',
      { content: '{name}', to: to([AWA, { name: 'Awa' }], [PAUL, { name: ' \u200b' }]) },
      'empty_message',
      'Le message ne doit pas être vide',
    ],
    [
      'a text that its values make too long',
      { to: to([AWA, { name: 'Awa' }], [PAUL, { name: 'x'.repeat(400) }]) },
      'too_many_segments',
      'Message trop long : 3 segments, maximum 2',
    ],
    [
      'a text that is far too long before it is read',
      { content: '{a}'.repeat(100_000), to: to([AWA]) },
      'too_many_segments',
      'Message trop long : 3279 segments, maximum 2',
    ],
    [
      'a value that cannot be sent',
      { to: to([AWA, { name: 'a\0' }]) },
      'unsendable_character',
      'Le message contient un caractère qui ne peut pas être envoyé : U+0000',
    ],
  ])('%s', async (_what, body, word, message) => {
    const reply = await client.send({ ...SEND, to: named(AWA), ...body });
    expect([reply.body, reply.headers.get('x-error-code')]).toEqual([refusal(message), word]);
    expect(await client.balance()).toBe(1000);
    const quote = await client.post('sms/quote', { ...SEND, to: named(AWA), ...body });
    expect(quote.body).toEqual(refusal(message));
  });

  test('a value of 500 characters is one, whatever their size', async () => {
    const value = '😀'.repeat(500);
    const reply = await client.post('sms/quote', { content: 'a{name}b', to: to([AWA, { name: 'x', other: value }]) });
    expect(reply.status).toBe(200);
  });

  test('the signature is checked before the text is completed, and the balance last', async () => {
    const poor = await client.send({ signature: 'NOBODY', content: 'Bonjour {', to: to([AWA]) });
    expect(poor.body).toEqual(refusal('Signature non vérifiée ou invalide'));
  });
});
