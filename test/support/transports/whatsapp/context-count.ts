import 'reflect-metadata';
import { AsyncResource } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import { BaileysMsgappTransport } from '../../../../src/transports/baileys/index.js';
import { TestSession } from './test-session.js';
import { WhatsappPeer } from './whatsapp-peer.js';

/**
 * How many storages Node keeps while sessions come and go. For `plainNode`, because Jest's modules do not see Node's
 * class change.
 */

const RECONNECTIONS = 5;

Logger.overrideLogger(false);
const peer = await WhatsappPeer.start();
const [one, two] = [peer.phone('22670000001'), peer.phone('22670000002')];
const transport = new BaileysMsgappTransport({ waWebSocketUrl: peer.url, ca: peer.ca });
await transport.start();
const counts: number[] = [];
/**
 * Before Node 24, each storage that was ever used adds a property to everything asynchronous. Later versions do not.
 */
const count = () => counts.push(Object.getOwnPropertySymbols(new AsyncResource('probe')).length);

const session = await new TestSession(transport, 'one').linkTo(one);
// The phones have storages too, from their first message on.
await session.send(two, 'Bonjour');
count();
const other = await new TestSession(transport, 'two').linkTo(two);
count();
for (let time = 0; time < RECONNECTIONS; time++) {
  await session.close();
  await session.resume();
  await session.send(two, 'Bonjour');
  count();
}
await Promise.all([session.close(), other.close()]);
await transport.stop();
await peer.stop();
console.log(JSON.stringify({ counts, received: two.inbox.length, complaints: peer.complaints }));
