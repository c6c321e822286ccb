import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AccountService, LedgerService, MessagingModule, SandboxModule } from 'nestjs-messaging';
import { DashboardModule } from 'nestjs-messaging/dashboard';
import { MemoryStorage } from 'nestjs-messaging/testing';

// The work of a bundled host: it answers, shows its pages and sends.

class App {}
Module({
  imports: [
    MessagingModule.forRoot({
      storage: MemoryStorage,
      signatures: ['Shop', 'Orders', 'News'],
      sms: { tariff: { base: 1, international: 3, home: 'BF' } },
      hooks: { pepper: 'a pepper of this test, 0123456789 abcdefgh' },
      management: { secret: 'a secret of this test, 0123456789 abcdefgh' },
    }),
    SandboxModule.forRoot(),
    DashboardModule.forRoot(),
  ],
})(App);

async function main() {
  const app = await NestFactory.create(App, { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  const { id } = await app.get(AccountService).createAccount({ name: 'Shop' });
  await app.get(LedgerService).topUp(id, 5);
  const { key } = await app.get(AccountService).issueKey(id);
  const url = await app.getUrl();
  const get = async (path) => {
    const response = await fetch(`${url}/${path}`);
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
  };
  const sandbox = await get('sandbox');
  const photo = await get('sandbox/media/photo.jpg');
  const dashboard = await get('dashboard');
  const script = await get(`dashboard/assets/${/data-script="([^"]+)"/.exec(dashboard.bytes.toString())?.[1]}`);
  const sent = await fetch(`${url}/api/v1/send/sms`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ signature: 'Shop', content: 'Thank you.', number: ['22670000000'] }),
  });
  const [statuses, length] = [{ sandbox: sandbox.status, dashboard: dashboard.status }, photo.bytes.length];
  console.log(JSON.stringify({ ...statuses, photo: length, script: script.status, sent: sent.status }));
  await app.close();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
