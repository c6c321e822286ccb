import { beforeAll, describe, expect, test } from '@jest/globals';
import type { ApiClient } from '../../support/http/api-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { describeService } from '../../support/mounting/services.js';
import { PEPPER } from '../../support/otp/otp-app.js';

const RIGHT = '22670000001';

describeService('numbers of the home market', (start) => {
  let client: ApiClient;

  beforeAll(async () => {
    const service = await start({ locale: 'en', otp: { pepper: PEPPER, limits: 'strict' } });
    client = await service.client(100);
  });

  const ways: readonly (readonly [string, (number: unknown) => ReturnType<ApiClient['post']>])[] = [
    ['send/sms', (number) => client.send({ signature: 'INFOS', content: 'Bonjour', number: [RIGHT, number] })],
    ['sms/quote', (number) => client.post('sms/quote', { content: 'Bonjour', number: [number] })],
    ['send/otp', (number) => client.post('send/otp', { service: 'Boutique', number })],
  ];

  describe.each(ways)('%s', (_, post) => {
    test.each([
      '70000001',
      '070000001',
      '226070000001',
      '22622670000001',
      '+22670000001',
      '0022670000001',
      '226 70 00 00 01',
    ])('refuses %j and names the right number', async (number) => {
      const { status, headers, body } = await post(number);
      expect([status, headers.get('x-error-code')]).toEqual([400, 'invalid_number']);
      expect(body).toMatchObject({ message: `Invalid number: ${number}. Did you mean ${RIGHT}?` });
    });

    test.each(['2267000000', '226700000012', 'abc', ''])('refuses %j without a suggestion', async (number) => {
      const { status, headers, body } = await post(number);
      expect([status, headers.get('x-error-code')]).toEqual([400, 'invalid_number']);
      expect(body).toMatchObject({ message: `Invalid number: ${number}` });
    });

    test('charges nothing for a refusal', async () => {
      const before = await client.balance();
      await post('70000001');
      expect(await client.balance()).toBe(before);
    });
  });

  test.each([22670000001, null, true, { number: RIGHT }, [RIGHT]])('an entry %j must be a string', async (entry) => {
    for (const [path, body] of [
      ['send/sms', { signature: 'INFOS', content: 'Bonjour', number: [RIGHT, entry] }],
      ['sms/quote', { content: 'Bonjour', number: [entry] }],
    ] as const) {
      const { status, headers, body: answer } = await client.post(path, body);
      expect([status, headers.get('x-error-code')]).toEqual([400, 'field_not_list']);
      expect(answer).toMatchObject({ message: expect.stringMatching(/^The numbers in number must be strings/) });
    }
  });

  test.each([22670000001, true, { 0: RIGHT }, RIGHT, []])(
    'the list of numbers cannot be %j: it must be a list of strings',
    async (number) => {
      const { body } = await client.send({ signature: 'INFOS', content: 'Bonjour', number });
      expect(body).toMatchObject({ message: 'The field number must be a non-empty list of strings' });
    },
  );

  test.each([22670000001, true, { number: RIGHT }, [RIGHT]])(
    'the number %j of a code must be a string',
    async (number) => {
      for (const path of ['send/otp', 'verify/otp']) {
        const { status, body } = await client.post(path, { service: 'Boutique', number, otp: '1234' });
        expect([status, body]).toMatchObject([400, { message: 'The field number must be a string' }]);
      }
    },
  );

  test('numbers of other countries are accepted, even if they look like one of the home market', async () => {
    for (const number of ['33612345678', '67720123', '4512345678']) {
      expect((await client.post('sms/quote', { content: 'Bonjour', number: [number] })).status).toBe(200);
    }
  });

  test('are accepted unchanged if the host switches the check off', async () => {
    const service = await start({ sms: { ...OPTIONS.sms, strictNumbers: false } });
    const lax = await service.client(100);
    expect(await lax.post('sms/quote', { content: 'Bonjour', number: ['70000001'] })).toMatchObject({
      status: 200,
      body: { sms_units: 3 },
    });
  });
});
