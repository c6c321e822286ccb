import { beforeAll, expect, test } from '@jest/globals';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { eventually } from '../../support/common/eventually.js';
import type { ApiClient, Details } from '../../support/http/api-client.js';
import { call } from '../../support/http/http-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { describeServices, type Service } from '../../support/mounting/services.js';

const BF = '22670000000';
const SEND = { signature: 'INFOS', content: 'Bonjour', number: [BF] };
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const DELIVERED = [
  { at: expect.stringMatching(ISO), route: 'sandbox', status: 'delivered', error: null, segments: null },
];
const NOT_FOUND = { statusCode: 404, message: 'Message introuvable', error: 'Not Found' };

describeServices('SMS', (start) => {
  let service: Service;
  beforeAll(async () => {
    service = await start({}, { imports: [SandboxModule.forRoot()] });
  });

  const delivered = (client: ApiClient, smsId: string): Promise<Details> =>
    eventually(
      () => client.details(smsId),
      ({ recipients }) => recipients.every(({ status }) => status !== 'queued' && status !== 'sending'),
    );

  test('are charged, answered 200 with the six fields, and reach their phones as they were written', async () => {
    const client = await service.client(10);
    const content = ' Bonjour à tous : {é} "…" 🎉\r\n ';
    const reply = await client.send({ ...SEND, content, ignored: { any: ['thing'] } });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toMatch(/^application\/json\b/);
    expect(reply.headers.get('idempotency-replayed')).toBeNull();
    expect(reply.body).toEqual({
      userID: client.accountId,
      smsID: expect.any(String),
      signature: 'INFOS',
      number: [BF],
      sms_units: 1,
      date_sent: expect.stringMatching(ISO),
    });
    expect(await client.balance()).toBe(9);
    const { smsID } = reply.body as Details;
    await delivered(client, smsID);
    const phone = await call(`${service.url}/sandbox/phones/${BF}/messages`);
    expect((phone.body as { messageID: string }[]).filter(({ messageID }) => messageID === smsID)).toEqual([
      {
        messageID: smsID,
        channel: 'sms',
        from: 'INFOS',
        to: BF,
        text: content,
        media: null,
        receivedAt: expect.stringMatching(ISO),
      },
    ]);
  });

  test('accept every signature of the options, and numbers of 7 to 15 digits', async () => {
    const client = await service.client(1000);
    for (const signature of ['INFOS', 'ALERTE', 'SERVICE']) {
      expect(await client.send({ ...SEND, signature })).toMatchObject({ status: 200, body: { signature } });
    }
    // These are numbers of another country, because in the home market only those of the right length are accepted.
    const number = ['9967000', '336700000000000'];
    expect(await client.send({ ...SEND, number })).toMatchObject({ status: 200, body: { number } });
  });

  test.each([
    ['home', [BF], 1],
    ['a named country', ['221701234567'], 2],
    ['the longest prefix over the country', ['221771234567'], 3],
    ['another country', ['33612345678'], 3],
    ['no country at all: never a refusal', ['88212345678'], 3],
    ['no calling code at all', ['2101234567'], 3],
    ['all of them', [BF, '221701234567', '221771234567', '33612345678', '88212345678'], 12],
  ])('cost by the segment and the destination: %s', async (_where, number, units) => {
    const client = await service.client(1000);
    expect((await client.sent({ ...SEND, number })).sms_units).toBe(units);
    // 161 septets are two segments, and so are 71 UTF-16 units.
    expect((await client.sent({ ...SEND, number, content: 'a'.repeat(161) })).sms_units).toBe(2 * units);
    expect((await client.sent({ ...SEND, number, content: 'ê'.repeat(71) })).sms_units).toBe(2 * units);
    expect(await client.balance()).toBe(1000 - 5 * units);
  });

  test('may have 255 segments', async () => {
    const client = await service.client(1000);
    for (const content of ['a'.repeat(255 * 153), 'я'.repeat(255 * 67)]) {
      const { smsID, sms_units } = await client.sent({ ...SEND, content });
      expect(sms_units).toBe(255);
      expect(await client.details(smsID)).toMatchObject({ segments: 255, content });
    }
  });

  test('go to a repeated recipient once and are charged once, in the order of first appearance', async () => {
    const client = await service.client(1000);
    const number = ['33612345678', BF, '33612345678', BF, '221701234567'];
    const distinct = ['33612345678', BF, '221701234567'];
    const receipt = await client.sent({ ...SEND, number });
    expect(receipt).toMatchObject({ number: distinct, sms_units: 6 });
    const details = await delivered(client, receipt.smsID);
    expect(details.number).toEqual(distinct);
    expect(details.recipients.map(({ number: to, units }) => [to, units])).toEqual([
      ['33612345678', 3],
      [BF, 1],
      ['221701234567', 2],
    ]);
  });

  test('cost what a quote says, which charges and stores nothing', async () => {
    const client = await service.client(1000);
    const number = ['33612345678', BF, BF];
    const quote = await client.post('sms/quote', { content: 'Fête à l’école 🎉🎉 êê', number });
    expect([quote.status, quote.body]).toEqual([
      200,
      {
        encoding: 'UCS-2',
        segments: 1,
        characters: 20,
        units_per_recipient: [
          { number: '33612345678', units: 3 },
          { number: BF, units: 1 },
        ],
        sms_units: 4,
        not_gsm7: ['ê', '’', '🎉'],
      },
    ]);
    expect((await client.post('sms/quote', { content: '€'.repeat(80), number: [BF], signature: 5 })).body).toEqual({
      encoding: 'GSM-7',
      segments: 1,
      characters: 80,
      units_per_recipient: [{ number: BF, units: 1 }],
      sms_units: 1,
      not_gsm7: [],
    });
    expect((await client.post('sms/quote', { content: '€'.repeat(81), number: [BF] })).body).toMatchObject({
      segments: 2,
      characters: 81,
      units_per_recipient: [{ number: BF, units: 2 }],
      sms_units: 2,
    });
    const poor = await service.client(0);
    expect(await poor.post('sms/quote', { content: 'a', number: [BF] })).toMatchObject({ status: 200 });
    expect((await client.post('sms/quote', { number: [BF] })).body).toMatchObject({
      message: 'Le message ne doit pas être vide',
    });
    expect((await client.post('sms/quote', { content: '', number: ['06'] })).body).toMatchObject({
      message: 'Numéro invalide : 06',
    });
    expect(await client.balance()).toBe(1000);
    expect((await client.list()).items).toEqual([]);
  });

  test('are shown by their id to their account only', async () => {
    const client = await service.client(1000);
    const other = await service.client(1000);
    const content = `été ${'a'.repeat(160)}`;
    const receipt = await client.sent({ ...SEND, content, number: [BF, '221701234567'] });
    const details = await delivered(client, receipt.smsID);
    expect(details).toEqual({
      ...receipt,
      content,
      segments: 2,
      recipients_count: 2,
      refunded_units: 0,
      metadata: null,
      send_at: null,
      valid_until: null,
      window: null,
      recipients: [
        {
          number: BF,
          content: null,
          status: 'delivered',
          units: 2,
          refunded_units: 0,
          error: null,
          updated_at: expect.any(String),
          due_at: null,
          attempts: DELIVERED,
          attempts_count: 1,
        },
        {
          attempts: DELIVERED,
          attempts_count: 1,
          number: '221701234567',
          content: null,
          status: 'delivered',
          units: 4,
          refunded_units: 0,
          error: null,
          updated_at: expect.stringMatching(ISO),
          due_at: null,
        },
      ],
    });
    const strange = [
      '00000000-0000-7000-8000-000000000000',
      'x',
      '%00',
      "'%20OR%20''='",
      '%F0%9F%8E%89',
      'a'.repeat(90),
    ];
    expect((await other.call(`sms/${receipt.smsID}`)).body).toEqual(NOT_FOUND);
    for (const id of strange) {
      const { status, body } = await client.call(`sms/${id}`);
      expect([id, status, body]).toEqual([id, 404, NOT_FOUND]);
    }
  });

  test('are listed newest first, page by page, while new ones arrive', async () => {
    const client = await service.client(1000);
    const other = await service.client(1000);
    const ids: string[] = [];
    for (let at = 0; at < 7; at++) ids.unshift((await client.sent({ ...SEND, content: `n° ${at}` })).smsID);
    await other.sent(SEND);

    const seen: Details[] = [];
    let query = '?limit=3';
    for (let pages = 1; ; pages++) {
      const { items, next_cursor } = await client.list(query);
      seen.push(...items);
      await client.sent({ ...SEND, content: 'meanwhile' });
      if (next_cursor === null) {
        expect(pages).toBe(3);
        break;
      }
      expect(items).toHaveLength(3);
      query = `?limit=3&cursor=${encodeURIComponent(next_cursor)}`;
    }
    expect(seen.map(({ smsID }) => smsID)).toEqual(ids);
    const { recipients: _, ...summary } = await delivered(client, ids[0] ?? '');
    expect((await client.list()).items.find(({ smsID }) => smsID === ids[0])).toEqual(summary);
    expect((await other.list()).items).toHaveLength(1);
  });

  test('are listed 50 at a time, or 1 to 500 if asked to', async () => {
    const client = await service.client(1000);
    await Promise.all(Array.from({ length: 53 }, () => client.sent(SEND)));
    expect((await client.list()).items).toHaveLength(50);
    expect((await client.list('?limit=1')).items).toHaveLength(1);
    expect(await client.list('?limit=500')).toMatchObject({ items: { length: 53 }, next_cursor: null });
    expect(await client.list('?limit=53')).toMatchObject({ items: { length: 53 }, next_cursor: null });
    const LIMIT = 'Le champ limit doit être un entier entre 1 et 500';
    for (const limit of ['0', '501', 'abc', '-1', '1.5', '1e2', '', '99999999999999999999', '5&limit=6', '%00']) {
      expect(await client.call(`sms?limit=${limit}`)).toMatchObject({
        status: 400,
        body: { statusCode: 400, message: LIMIT, error: 'Bad Request' },
      });
    }
    // Well-formed ids of no message here: one that does not exist, and one of another account.
    const { smsID } = await (await service.client(1)).sent({ ...SEND, number: [BF] });
    const nowhere = ['019d0f51-0d80-7b62-8c0e-5a7f3b1d9e24', smsID].map((id) => Buffer.from(id).toString('base64url'));
    for (const cursor of [
      ...nowhere,
      '',
      'abc',
      '%00',
      '../..',
      'a'.repeat(500),
      '%F0%9F%8E%89',
      'bm8gY3Vyc29yIQ',
      '-',
    ]) {
      expect([cursor, (await client.call(`sms?cursor=${cursor}`)).body]).toEqual([
        cursor,
        { statusCode: 400, message: 'Curseur invalide', error: 'Bad Request' },
      ]);
    }
    expect((await client.call('sms?cursor=a&cursor=b')).body).toEqual({
      statusCode: 400,
      message: 'Le champ cursor doit être une chaîne de caractères',
      error: 'Bad Request',
    });
  });

  test('that cost exactly the balance are sent, one unit more is refused, and concurrent sends never overdraw', async () => {
    const client = await service.client(4);
    expect(await client.send({ ...SEND, number: ['33612345678', '221701234567'] })).toMatchObject({ status: 400 });
    expect(await client.send({ ...SEND, number: ['33612345678', BF] })).toMatchObject({ status: 200 });
    expect(await client.balance()).toBe(0);

    const rich = await service.client(30);
    const replies = await Promise.all(Array.from({ length: 60 }, () => rich.send(SEND)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(30);
    expect(await rich.balance()).toBe(0);
    expect(await service.app.get(LedgerService, { strict: false }).checkLedger()).toEqual([]);
  });

  test('to many recipients are charged, listed and delivered as a whole', async () => {
    const client = await service.client(5000);
    const number = Array.from({ length: 2500 }, (_, at) => `2267${String(at).padStart(7, '0')}`);
    const receipt = await client.sent({ ...SEND, number: [...number, ...number] });
    expect(receipt).toMatchObject({ sms_units: 2500 });
    expect(receipt.number).toEqual(number);
    const details = await delivered(client, receipt.smsID);
    const first = number.slice(0, 100);
    expect([details.recipients_count, details.number]).toEqual([2500, first]);
    expect(details.recipients.map(({ number: to }) => to)).toEqual(first);
    const [summary] = (await client.list('?limit=1')).items;
    expect([summary?.recipients_count, summary?.number]).toEqual([2500, first]);

    const path = `sms/${receipt.smsID}/recipients`;
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await client.call(`${path}?limit=500${cursor && `&cursor=${cursor}`}`);
      const page = body as { items: { number: string }[]; next_cursor: string | null };
      expect(page.items).toHaveLength(500);
      seen.push(...page.items.map(({ number: to }) => to));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(number);
    expect((await client.call(path)).body).toMatchObject({ items: { length: 50 }, next_cursor: expect.any(String) });
    const other = await service.client(1);
    expect((await other.call(path)).body).toEqual(NOT_FOUND);
    const cursors = [2500, 9_999_999, -1, '1e2', ' 1', '', 'x'].map((at) => Buffer.from(`${at}`).toString('base64url'));
    for (const cursor of [...cursors, '%00', '!', details.smsID]) {
      const { status, body } = await client.call(`${path}?cursor=${cursor}`);
      expect([cursor, status, body]).toEqual([cursor, 400, expect.objectContaining({ message: 'Curseur invalide' })]);
    }
  });

  test('are found by number, state, signature and time, page by page, within the account only', async () => {
    const client = await service.client(1000);
    const other = await service.client(1000);
    const send = async (number: string[], signature: string) =>
      (await client.sent({ ...SEND, number, signature })).smsID;
    const [refused, one, two] = ['22671990001', '22670000001', '22670000002'];
    const ids = [
      await send([one], 'INFOS'),
      await send([refused, one], 'ALERTE'),
      await send([two], 'INFOS'),
      await send([one, two], 'ALERTE'),
    ];
    await other.sent({ ...SEND, number: [one] });
    for (const id of ids) await delivered(client, id);
    const found = async (query: string): Promise<number[]> => {
      const seen: number[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await client.list(`?limit=1&${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
        seen.push(...page.items.map(({ smsID }) => ids.indexOf(smsID)));
        cursor = page.next_cursor;
      }
      return seen;
    };
    expect(await found(`number=${one}`)).toEqual([3, 1, 0]);
    expect(await found('number=22679999999')).toEqual([]);
    expect(await found('signature=ALERTE')).toEqual([3, 1]);
    expect(await found('signature=%00%F0%9F%8E%89')).toEqual([]);
    expect(await found('status=failed')).toEqual([1]);
    expect(await found('status=delivered')).toEqual([3, 2, 1, 0]);
    expect(await found(`status=delivered&number=${refused}`)).toEqual([]);
    expect(await found(`status=failed&number=${refused}&signature=ALERTE`)).toEqual([1]);
    const at = (await client.details(ids[2] ?? '')).date_sent;
    expect(await found(`until=${at}`)).toEqual([1, 0]);
    expect(await found(`since=${at}&number=${two}`)).toEqual([3, 2]);
    expect(await found('since=2020-01-01&until=2099-12-31T23:59:59.999%2B01:00')).toEqual([3, 2, 1, 0]);
    expect(await found('since=2099-01-01')).toEqual([]);
    const failed = await client.call(`sms/${ids[1]}/recipients?status=failed`);
    expect(failed.body).toMatchObject({ items: [{ number: refused, status: 'failed' }], next_cursor: null });
  });

  test('cannot be searched by an unknown filter, which the answer names', async () => {
    const client = await service.client(1);
    const { smsID } = await client.sent(SEND);
    const invalid = (field: string) => `Le champ ${field} est invalide`;
    const moments = [
      '',
      'yesterday',
      '2026-02-30',
      '2026-13-01',
      '2026-11-22T10:00:00',
      '1795255200000',
      '2026-11-22 10:00Z',
    ];
    const wrong: [string, string][] = [
      ['number=+22670000000', 'Numéro invalide :  22670000000. Vouliez-vous dire 22670000000 ?'],
      ['number=abc', 'Numéro invalide : abc'],
      ['number=1&number=2', 'Le champ number doit être une chaîne de caractères'],
      ...['', 'read', 'Failed', 'toString', 'queued,sent'].map((each): [string, string] => [
        `status=${each}`,
        invalid('status'),
      ]),
      ['signature=a&signature=b', 'Le champ signature doit être une chaîne de caractères'],
      ...moments.flatMap((each): [string, string][] => [
        [`since=${each}`, invalid('since')],
        [`until=${encodeURIComponent(each)}`, invalid('until')],
      ]),
    ];
    for (const [query, message] of wrong) {
      const { status, body } = await client.call(`sms?${query}`);
      expect([query, status, body]).toEqual([query, 400, { statusCode: 400, message, error: 'Bad Request' }]);
    }
    const { body } = await client.call(`sms/${smsID}/recipients?status=read`);
    expect(body).toMatchObject({ statusCode: 400, message: invalid('status') });
  });
});

describeServices('a service that simplifies punctuation', (start) => {
  test('makes punctuation plain if asked to', async () => {
    const client = await (await start({ sms: { ...OPTIONS.sms, transliterate: 'punctuation' } })).client();
    const content = `C’est “bon” … ${'a'.repeat(70)}`;
    expect((await client.post('sms/quote', { content, number: [BF] })).body).toMatchObject({ encoding: 'GSM-7' });
    const { smsID, sms_units } = await client.sent({ ...SEND, content });
    expect(sms_units).toBe(1);
    expect((await client.details(smsID)).content).toBe(`C'est "bon" ... ${'a'.repeat(70)}`);
  });
});
