import 'reflect-metadata';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { WA_CERT_DETAILS } from 'baileys';
import { AccountService, MessagingModule, SessionManager, TypeormStorage } from 'nestjs-messaging';
import { BaileysMsgappTransport } from 'nestjs-messaging/baileys';
import { until } from '../../../test/support/common/until.js';
import { idleMemory } from './memory.js';

/** The settings that the parent passes at the start: `node --expose-gc host.js '<json>'`. */
export interface HostSettings {
  /** The database. */
  readonly url: string;
  /** The URL of the peer. `root` is its root key in Base64. */
  readonly peer: string;
  readonly root: string;
}

/** An order of the parent. The answer is the memory in use after the order was carried out and the process is idle. */
export type HostOrder =
  /** Starts the service and waits until a number of sessions are connected. */
  | { readonly kind: 'open'; readonly sessions: number }
  | { readonly kind: 'link'; readonly numbers: readonly string[] }
  /** Stops the service, but not the process. */
  | { readonly kind: 'close' };

/** A code, and the number whose phone must scan it. */
export interface ShownCode {
  readonly number: string;
  readonly qr: string;
}

/** How many numbers are linked at a time. Each makes about 800 keys at its first login. */
const AT_A_TIME = 4;
const PATIENCE_MS = 30_000;

const { url, peer, root }: HostSettings = JSON.parse(process.argv[2] ?? '{}');
Object.assign(WA_CERT_DETAILS, { PUBLIC_KEY: Buffer.from(root, 'base64') });
let app: INestApplicationContext | undefined;

process.on('message', (order: HostOrder) => {
  void obey(order)
    .then(idleMemory)
    .then((memory) => process.send?.(memory));
});
process.once('disconnect', () => process.exit());

async function obey(order: HostOrder): Promise<void> {
  if (order.kind === 'open') await open(order.sessions);
  if (order.kind === 'close') await app?.close();
  if (order.kind !== 'link' || !app) return;
  const { id } = await app.get(AccountService, { strict: false }).createAccount({ name: 'bench' });
  const manager = app.get(SessionManager, { strict: false });
  for (let at = 0; at < order.numbers.length; at += AT_A_TIME) {
    await Promise.all(order.numbers.slice(at, at + AT_A_TIME).map((number) => link(manager, id, number)));
  }
}

async function open(sessions: number): Promise<void> {
  class Host {}
  const messaging = MessagingModule.forRoot({
    storage: TypeormStorage.forRoot({ url }),
    signatures: ['INFOS', 'ALERTE', 'SERVICE'],
    sms: { tariff: { base: 1, international: 3, home: 'BF' } },
    msgapp: {
      tariff: { text: 1, media: 2 },
      credentialsKey: 'bench-bench-bench-bench-bench-bench-0123456789',
      transport: BaileysMsgappTransport.forRoot({ waWebSocketUrl: peer }),
      sessions: { staggerMs: 0 },
      connects: { waiting: 100, perHour: 1000 },
    },
  });
  const host = { module: Host, imports: [messaging] };
  app = await NestFactory.createApplicationContext(host, { logger: ['error', 'fatal'] });
  const manager = app.get(SessionManager, { strict: false });
  await until(() => manager.sessions.filter((session) => session.link).length === sessions, Boolean, PATIENCE_MS);
}

/** Links a number as its owner would. */
async function link(manager: SessionManager, accountId: string, number: string): Promise<void> {
  const { sessionID, qrToken } = await manager.connect(accountId);
  const code = await manager.currentQr(qrToken, PATIENCE_MS, AbortSignal.timeout(PATIENCE_MS));
  if (!code) throw new Error('No code was shown.');
  process.send?.({ number, qr: code.qr } satisfies ShownCode);
  await until(() => manager.find(sessionID)?.link !== undefined, Boolean, PATIENCE_MS);
}
