import { BaileysMsgappTransport, type BaileysOptions } from 'nestjs-messaging/baileys';
import type { MessagingOptions } from '../../../../src/messaging/module-options.js';
import { EventReader } from '../../events/event-reader.js';
import { MSGAPP, type MsgappClient } from '../../msgapp/msgapp-app.js';
import type { Phone } from './phone.js';
import type { WhatsappPeer } from './whatsapp-peer.js';

/** Options of a channel that goes through Baileys to the peer, without pauses between messages. */
export function overBaileys(peer: WhatsappPeer, options: BaileysOptions = {}): Partial<MessagingOptions> {
  const transport = BaileysMsgappTransport.forRoot({
    waWebSocketUrl: peer.url,
    ca: peer.ca,
    mediaUrl: peer.mediaUrl,
    queryTimeoutMs: 2000,
    ackTimeoutMs: 1000,
    ...options,
  });
  const pacing = { perMinute: Number.POSITIVE_INFINITY };
  return { msgapp: { ...MSGAPP, transport, pacing, sessions: { staggerMs: 0 }, delivery: { retryBaseMs: 100 } } };
}

/** Links a number as its owner would: requests a session, looks at the code, scans it. Returns the session's id. */
export async function linkPhone(client: MsgappClient, phone: Phone): Promise<string> {
  const { sessionID, qr_url } = await client.connect();
  const events = await EventReader.open(qr_url);
  await phone.scan(String((await events.first('qr')).data.qr));
  await events.until(({ data }) => data.status === 'connected');
  await events.end();
  return sessionID;
}
