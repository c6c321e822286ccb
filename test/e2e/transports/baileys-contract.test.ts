import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, test } from '@jest/globals';
import { BaileysMsgappTransport } from '../../../src/transports/baileys/baileys-msgapp-transport.js';
import { describeMsgappTransport, type WrittenMsgapp } from '../../contract/msgapp/msgapp-contract.js';
import { WhatsappPeer } from '../../support/transports/whatsapp/whatsapp-peer.js';

const open = async () => {
  const peer = await WhatsappPeer.start();
  const owner = peer.phone('22675000000');
  const friend = peer.phone('22670000000');
  peer.alias('226700000001', friend);
  let last = '';
  return {
    transport: new BaileysMsgappTransport({ waWebSocketUrl: peer.url, ca: peer.ca, mediaUrl: peer.mediaUrl }),
    phone: owner.number,
    scan: (qr: string) => owner.scan(qr),
    number: (outcome: string) => ({ taken: friend.number, respelled: '226700000001', absent: '22670000009' })[outcome],
    received: () =>
      Promise.all(
        friend.inbox.map(async (message) => {
          const { extendedTextMessage, documentMessage } = message.content;
          const quotes = (extendedTextMessage ?? documentMessage)?.contextInfo?.stanzaId || undefined;
          if (message.text !== undefined) return { text: message.text, quotes };
          const { bytes, caption } = await friend.media(message);
          return { text: caption ?? '', sha256: createHash('sha256').update(bytes).digest('hex'), quotes };
        }),
      ),
    write: async (_: string, { text, answers, file, again, hidden }: WrittenMsgapp) => {
      const contextInfo = answers ? { stanzaId: friend.inbox.at(-1)?.id ?? '' } : {};
      const message = file
        ? { documentMessage: { ...friend.upload('document', file), mimetype: 'text/plain' } }
        : { extendedTextMessage: { text: text ?? '', contextInfo } };
      last = await friend.send(owner.number, message, { hidden: hidden === true, ...(again && { id: last }) });
    },
    hidesNumbers: true as const,
    showsQuotes: true as const,
    close: () => peer.stop(),
  };
};

describeMsgappTransport('Baileys', open, { describe, test, beforeEach, afterEach });
