import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DataSourceOptions } from 'typeorm';
import type { MessagingStorage } from '../../../src/storage/messaging-storage.js';
import type { Adapter } from '../http/http-apps.js';
import { leaksOf, storedTexts } from './code-leaks.js';
import { OtpApp, wrongFor } from './otp-app.js';

const NUMBER = '22670000001';
const SERVICE = 'Boutique';

const refusal = (statusCode: number, error: string, message: string) => ({ statusCode, message, error });
const INVALID = refusal(400, 'Bad Request', 'Code de vérification invalide');
const EXPIRED = refusal(400, 'Bad Request', 'Code de vérification expiré');
const ALREADY = refusal(400, 'Bad Request', 'Code de vérification déjà vérifié');
const NOT_FOUND = refusal(404, 'Not Found', 'Code de vérification non trouvé ou déjà vérifié');
const LOCKED = refusal(429, 'Too Many Requests', 'Trop de tentatives, réessayez plus tard');
const TOO_MANY = refusal(429, 'Too Many Requests', 'Trop de codes demandés, réessayez plus tard');
const VERIFIED = { success: true, message: 'Code de vérification vérifié avec succès' };

/** An empty storage, and where its database is. */
export interface OtpPlace {
  readonly storage: MessagingStorage;
  readonly database?: DataSourceOptions;
}

/**
 * Section 4 of the contract over HTTP. After each test, the database and the log are searched for every code that it
 * saw.
 * @param open called before each test
 */
export function describeOtp(adapter: Adapter, name: string, open: () => OtpPlace | Promise<OtpPlace>): void {
  describe(`OTP on ${adapter}, ${name}`, () => {
    let otp: OtpApp;
    let place: OtpPlace;
    let code: string;
    const start = async (setup: Parameters<typeof OtpApp.start>[1] = {}) => {
      place = await open();
      otp = await OtpApp.start(adapter, { storage: place.storage, ...setup });
    };
    const verify = async (given: string, over: object = {}) =>
      (await otp.verify({ otp: given, number: NUMBER, service: SERVICE, ...over })).body;

    beforeEach(async () => {
      await start();
      code = await otp.codeFor(NUMBER);
    });
    afterEach(async () => {
      const stored = place.database ? await storedTexts(place.database) : [];
      await otp.close();
      expect(leaksOf(otp.codes, [...stored, ...otp.log])).toEqual([]);
    });

    test('sends a code and reports what was done', async () => {
      const { status, body } = await otp.send({ service: SERVICE, number: '22670000002' });
      expect(status).toBe(200);
      const now = otp.clock.now();
      expect(body).toEqual({
        success: true,
        message: 'Code de vérification envoyé',
        otpID: expect.stringMatching(/^[\w-]{22}$/),
        number: '22670000002',
        service: SERVICE,
        channel: 'sms',
        expires_at: expect.any(String),
        resend_at: expect.any(String),
      });
      expect(Date.parse((body as { expires_at: string }).expires_at)).toBeLessThanOrEqual(now + 300_000);
      expect(await otp.texts('22670000002', 1)).toEqual([
        expect.stringMatching(/^\d{4} est votre code de vérification Boutique\. Valable 5 min\.$/),
      ]);
      expect(await otp.balance()).toMatchObject({ balance: 998 });
    });

    test('V0: a malformed body is refused, and an otp that is not four digits is not counted', async () => {
      for (const body of [{}, { otp: code }, { otp: Number(code), number: NUMBER, service: SERVICE }]) {
        expect((await otp.verify(body)).status).toBe(400);
      }
      for (const given of ['', '123', '12345', 'abcd', '１２３', ' 123', `${code} ${code}`, `code: ${code}`])
        expect(await verify(given)).toEqual(INVALID);
      expect(await verify(code)).toEqual(VERIFIED);
    });

    test('a code is accepted as people type it, and a wrong one counts the same with blanks', async () => {
      const [a, b] = [code.slice(0, 2), code.slice(2)];
      const arabic = [...code].map((digit) => String.fromCodePoint(0x660 + Number(digit))).join('');
      expect(await verify(`\u200e${a}\u00a0${b}\n`)).toEqual(VERIFIED);
      expect(await verify(` ${a}-${b}`)).toEqual(ALREADY);
      expect(await verify(arabic)).toEqual(ALREADY);
      const next = await otp.codeFor(NUMBER, SERVICE, 2);
      const wrong = wrongFor(next);
      for (const given of [wrong, ` ${wrong}`, [...wrong].join(' ')]) expect(await verify(given)).toEqual(INVALID);
      expect(await verify(next)).toEqual(INVALID);
    });

    test('a service is the same in every normal form of Unicode: send, resend, verify and limits', async () => {
      const [composed, decomposed] = ['Café Nhật Bản', 'Café Nhật Bản'.normalize('NFD')];
      const number = '22670000003';
      const first = await otp.send({ service: decomposed, number });
      expect(first.body).toMatchObject({ success: true, service: composed });
      const { otpID } = first.body as { otpID: string };
      expect((await otp.send({ service: composed, number })).body).toMatchObject({ otpID });
      const [text = ''] = await otp.texts(number, 2);
      expect(await verify(text.slice(0, 4), { number, service: decomposed })).toEqual(VERIFIED);
      expect(await verify(text.slice(0, 4), { number, service: composed })).toEqual(ALREADY);
      for (const service of [decomposed, composed, decomposed])
        expect((await otp.send({ service, number })).status).toBe(200);
      expect((await otp.send({ service: composed, number })).body).toEqual(TOO_MANY);
      // 128 characters are 128, however they are written. Another letter case is another name, and so is a blank.
      expect((await otp.send({ service: 'é'.repeat(128).normalize('NFD'), number })).status).toBe(200);
      expect((await otp.send({ service: 'é'.repeat(129), number })).status).toBe(400);
      expect(await verify('1234', { number, service: composed.toUpperCase() })).toEqual(NOT_FOUND);
    });

    test('V1: an unknown number and an unknown service get the same answer, letter for letter', async () => {
      expect(await verify(code, { number: '22670000009' })).toEqual(NOT_FOUND);
      expect(await verify(code, { service: 'boutique' })).toEqual(NOT_FOUND);
      expect(await verify(code, { service: 'Boutique ' })).toEqual(NOT_FOUND);
    });

    test('V1: after 24 hours the code is completely forgotten', async () => {
      otp.clock.advance(24 * 3_600_000 - 2000);
      expect(await verify(code)).toEqual(EXPIRED);
      otp.clock.advance(2000);
      expect(await verify(code)).toEqual(NOT_FOUND);
    });

    test('V3, V7, V8: the right code succeeds once, then counts as already verified for ten minutes; other codes do not', async () => {
      expect(await verify(code)).toEqual(VERIFIED);
      expect(await verify(code)).toEqual(ALREADY);
      expect(await verify(wrongFor(code))).toEqual(NOT_FOUND);
      otp.clock.advance(599_000);
      expect(await verify(code)).toEqual(ALREADY);
      otp.clock.advance(1000);
      expect(await verify(code)).toEqual(NOT_FOUND);
    });

    test('V4, V6: the third wrong attempt ends the code', async () => {
      for (const step of [1, 2, 3]) expect(await verify(wrongFor(code, step))).toEqual(INVALID);
      expect(await verify(code)).toEqual(INVALID);
      const next = await otp.codeFor(NUMBER, SERVICE, 2);
      expect(await verify(next)).toEqual(VERIFIED);
    });

    test('V5: an expired code is refused', async () => {
      otp.clock.advance(300_000);
      expect(await verify(code)).toEqual(EXPIRED);
      expect(await verify(wrongFor(code))).toEqual(EXPIRED);
    });

    test('a resend repeats the code and keeps its expiry and its wrong attempts; near the end it makes a new one', async () => {
      const first = (await otp.send({ service: SERVICE, number: NUMBER })).body as {
        expires_at: string;
        otpID: string;
      };
      await verify(wrongFor(code));
      await verify(wrongFor(code));
      otp.clock.advance(100_000);
      const second = await otp.send({ service: SERVICE, number: NUMBER });
      expect(second.body).toMatchObject({ otpID: first.otpID, expires_at: first.expires_at });
      const texts = await otp.texts(NUMBER, 3);
      expect(new Set(texts.map((text) => text.slice(0, 4)))).toEqual(new Set([code]));
      expect(await verify(wrongFor(code))).toEqual(INVALID);
      expect(await verify(code)).toEqual(INVALID);
      expect((await otp.send({ service: SERVICE, number: NUMBER })).body).not.toMatchObject({ otpID: first.otpID });
    });

    test('with under 60 s left a send makes a new code, and the old one no longer works', async () => {
      otp.clock.advance(240_500);
      const next = await otp.codeFor(NUMBER, SERVICE, 2);
      expect(await verify(next)).toEqual(VERIFIED);
      if (next !== code) expect(await verify(code)).toEqual(NOT_FOUND);
    });

    test('ten wrong attempts lock verifying over all services; sending still works, and a success resets the count', async () => {
      for (let round = 0; round < 3; round++) {
        const right = round === 0 ? code : await otp.codeFor(NUMBER, `s${round}`, 1 + round);
        const service = round === 0 ? SERVICE : `s${round}`;
        for (const step of [1, 2, 3]) expect(await verify(wrongFor(right, step), { service })).toEqual(INVALID);
      }
      const right = await otp.codeFor(NUMBER, 's4', 4);
      expect(await verify(wrongFor(right), { service: 's4' })).toEqual(INVALID);
      const locked = await otp.verify({ otp: right, number: NUMBER, service: 's4' });
      expect(locked.body).toEqual(LOCKED);
      expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(80_000);
      // Dead codes are answered as before: the lock applies to live ones.
      expect(await verify(code)).toEqual(INVALID);
      otp.clock.advance(24 * 3_600_000);
      const fresh = await otp.codeFor(NUMBER, 's4', 5);
      expect(await verify(fresh, { service: 's4' })).toEqual(VERIFIED);
    });

    test('the sixth send in ten minutes is refused, with the time to wait', async () => {
      for (let sent = 1; sent < 5; sent++)
        expect((await otp.send({ service: SERVICE, number: NUMBER })).status).toBe(200);
      const refused = await otp.send({ service: SERVICE, number: NUMBER });
      expect(refused.body).toEqual(TOO_MANY);
      const wait = Number(refused.headers.get('retry-after'));
      expect(wait).toBeGreaterThan(500);
      expect((await otp.send({ service: 'other', number: NUMBER })).status).toBe(200);
      otp.clock.advance(wait * 1000);
      expect((await otp.send({ service: SERVICE, number: NUMBER })).status).toBe(200);
    });

    test('a replay takes precedence over the limits, charges nothing and has the same bytes', async () => {
      const headers = { 'idempotency-key': 'k1' };
      const body = { service: SERVICE, number: NUMBER };
      const first = await otp.send(body, headers);
      for (let sent = 2; sent < 5; sent++) await otp.send(body);
      expect((await otp.send(body)).body).toEqual(TOO_MANY);
      const again = await otp.send(body, headers);
      expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body));
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect((await otp.send({ ...body, service: 'x' }, headers)).status).toBe(422);
    });

    test('of 200 right codes at once one is verified, and of 200 wrong ones at once three are counted', async () => {
      const answers = await Promise.all(Array.from({ length: 200 }, () => verify(code)));
      expect(answers.filter((answer) => JSON.stringify(answer) === JSON.stringify(VERIFIED))).toHaveLength(1);
      expect(answers.filter((answer) => JSON.stringify(answer) === JSON.stringify(ALREADY))).toHaveLength(199);
      const next = await otp.codeFor(NUMBER, 's2', 2);
      const wrong = await Promise.all(Array.from({ length: 200 }, () => verify(wrongFor(next), { service: 's2' })));
      expect(new Set(wrong.map((answer) => JSON.stringify(answer)))).toEqual(new Set([JSON.stringify(INVALID)]));
      expect(await verify(next, { service: 's2' })).toEqual(INVALID);
    });

    test('an empty balance leaves no code behind, and a refused message leaves a dead one, refunded', async () => {
      await otp.close();
      await start({ units: 1 });
      expect((await otp.send({ service: SERVICE, number: '22670990001' })).status).toBe(200);
      for (let turn = 0; turn < 500 && JSON.stringify(await otp.balance()).includes(':0,'); turn++)
        otp.clock.advance(5);
      expect(await otp.balance()).toMatchObject({ balance: 1 });
      expect(await verify('0000', { number: '22670990001' })).toEqual(NOT_FOUND);
      await otp.codeFor(NUMBER);
      expect((await otp.send({ service: SERVICE, number: '22670000005' })).body).toMatchObject({
        message: 'Solde SMS insuffisant',
      });
      expect(await verify('0000', { number: '22670000005' })).toEqual(NOT_FOUND);
    });

    test('a channel may be sms in any case, absent or null; anything else is a 400', async () => {
      for (const channel of ['SMS', 'Sms', null]) {
        const { status, body } = await otp.send({ service: SERVICE, number: '22670000006', channel });
        expect([status, body]).toMatchObject([200, { channel: 'sms' }]);
      }
      for (const channel of ['fax', '', 5]) {
        expect((await otp.send({ service: SERVICE, number: NUMBER, channel })).status).toBe(400);
      }
    });

    test('malformed bodies are refused in one string', async () => {
      const bad = [
        {},
        { service: SERVICE },
        { service: '', number: NUMBER },
        { service: 'x'.repeat(129), number: NUMBER },
      ];
      for (const body of [...bad, { service: SERVICE, number: '+22670000001' }, { service: 5, number: NUMBER }]) {
        const answer = await otp.send(body);
        expect([answer.status, typeof (answer.body as { message: unknown }).message]).toEqual([400, 'string']);
      }
      expect((await otp.send({ service: 'é'.repeat(128), number: '22670000008' })).status).toBe(200);
    });
  });
}
