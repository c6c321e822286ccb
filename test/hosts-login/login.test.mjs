import 'reflect-metadata';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Auth, skipCSRFCheck } from '@auth/core';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { AccountService, LedgerService, MessagingModule } from 'nestjs-messaging';
import { MessagingClient } from 'nestjs-messaging/client';
import { MemoryStorage } from 'nestjs-messaging/testing';
import { SmsTransport } from 'nestjs-messaging/transports';
import { phoneProvider } from './login.authjs.mjs';
import { phoneLogin } from './login.better-auth.mjs';

// run.mjs copies this file beside the snippets of docs/login.md.

/** Keeps the texts, and resolves when the next one comes. */
class Phones extends SmsTransport {
  name = 'phones';
  repeat = 'at-least-once';
  texts = [];
  waiting = [];

  async start() {}

  async submit(batch) {
    for (const { text } of batch) {
      const next = this.waiting.shift();
      if (next) next(text);
      else this.texts.push(text);
    }
    return batch.map(() => ({ kind: 'sent', final: 'delivered' }));
  }

  async stop() {}

  /** The code in the next text. */
  async code() {
    const text = this.texts.shift() ?? (await new Promise((resolve) => this.waiting.push(resolve)));
    return /^\d+/.exec(text)[0];
  }
}

const phones = new Phones();
let app;
let client;

before(async () => {
  class Host {}
  Module({
    imports: [
      MessagingModule.forRoot({
        storage: MemoryStorage,
        signatures: ['INFOS', 'ALERTE', 'SERVICE'],
        sms: { tariff: { base: 1, international: 3, home: 'BF' }, transport: { useValue: phones } },
        otp: { pepper: 'a pepper for the recipes, 0123456789 abcdef' },
      }),
    ],
  })(Host);
  app = await NestFactory.create(Host, { logger: false });
  await app.listen(0, '127.0.0.1');
  const accounts = app.get(AccountService, { strict: false });
  const { id } = await accounts.createAccount({ name: 'Shop' });
  await app.get(LedgerService, { strict: false }).topUp(id, 100);
  const { key } = await accounts.issueKey(id);
  client = new MessagingClient({ baseUrl: `${await app.getUrl()}/api/v1`, apiKey: key });
});

after(() => app.close());

const wrongFor = (code) => String((Number(code) + 1) % 10 ** code.length).padStart(code.length, '0');

test('better-auth: a sign-up by phone, with a wrong code first', async () => {
  const db = { user: [], session: [], account: [], verification: [] };
  const auth = betterAuth({
    baseURL: 'http://localhost:3000',
    secret: 'a secret of better-auth for the recipes, 0123',
    database: memoryAdapter(db),
    plugins: [phoneLogin(client, 'Boutique')],
  });
  const phoneNumber = '+22670000001';
  await auth.api.sendPhoneNumberOTP({ body: { phoneNumber } });
  const code = await phones.code();
  await assert.rejects(auth.api.verifyPhoneNumber({ body: { phoneNumber, code: wrongFor(code) } }));
  assert.equal(db.user.length, 0);
  const { status, token } = await auth.api.verifyPhoneNumber({ body: { phoneNumber, code } });
  assert.deepEqual([status, typeof token], [true, 'string']);
  assert.equal(db.user[0].phoneNumber, phoneNumber);
  assert.equal(db.user[0].phoneNumberVerified, true);
  assert.equal(db.session.length, 1);
  // Nothing of the code is stored outside this service.
  assert.equal(JSON.stringify(db).includes(`"${code}"`), false);
});

test('Auth.js: a sign-in by phone, with a wrong code first', async () => {
  const number = '22670000002';
  await client.otp.send({ service: 'Boutique', number });
  const code = await phones.code();
  const signIn = (given) =>
    Auth(
      new Request('http://localhost:3000/auth/callback/phone', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ number, code: given }),
      }),
      {
        basePath: '/auth',
        providers: [phoneProvider(client, 'Boutique')],
        secret: 'a secret of Auth.js for the recipes, 0123456789',
        trustHost: true,
        skipCSRFCheck,
        logger: { error() {}, warn() {} },
      },
    );
  const refused = await signIn(wrongFor(code));
  assert.match(refused.headers.get('location'), /error=CredentialsSignin/);
  const accepted = await signIn(code);
  assert.equal(accepted.status, 302);
  assert.match(accepted.headers.get('set-cookie'), /authjs\.session-token=/);
});
