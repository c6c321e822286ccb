import { WA_CERT_DETAILS } from 'baileys';
import { WhatsappPeer } from '../../../test/support/transports/whatsapp/whatsapp-peer.js';
import { HostProcess } from './host-process.js';
import type { Memory } from './memory.js';
import type { Readings, Task } from './readings.js';

/** The number of sessions that exist before anything is measured. */
const FEW = 4;

const { url, sessions, rounds }: Task = JSON.parse(process.argv[2] ?? '{}');
const peer = await WhatsappPeer.start();
const root = Buffer.from(WA_CERT_DETAILS.PUBLIC_KEY).toString('base64');
let numbers = 22_670_000_000;
// This process also ends if the parent has ended.
process.once('disconnect', () => process.exit());

const readings = await read();
if (peer.complaints.length > 0) throw new Error(`The peer has ${peer.complaints.length} complaints.`);
process.send?.(readings);
await peer.stop();
process.disconnect();

/** Runs one host after the other on the same database. This process is the network with its phones. */
async function read(): Promise<Readings> {
  const first = startHost();
  await first.ask({ kind: 'open', sessions: 0 });
  await link(first, FEW);
  await first.stop();

  const second = startHost();
  const fewResumed = await second.ask({ kind: 'open', sessions: FEW });
  const fewLinked = await link(second, FEW);
  const allLinked = await link(second, sessions);
  await second.stop();

  const third = startHost();
  const open = { kind: 'open', sessions: FEW + FEW + sessions } as const;
  const allResumed = await third.ask(open);
  const again: Memory[] = [];
  for (let round = 0; round < rounds; round++) {
    await third.ask({ kind: 'close' });
    again.push(await third.ask(open));
  }
  await third.stop();
  return {
    linked: [fewLinked, allLinked],
    resumed: [fewResumed, allResumed],
    again,
    more: { linked: sessions, resumed: FEW + sessions },
  };
}

function startHost(): HostProcess {
  return new HostProcess({ url, root, peer: peer.url }, ({ number, qr }) => void peer.phone(number).scan(qr));
}

function link(host: HostProcess, count: number): Promise<Memory> {
  return host.ask({ kind: 'link', numbers: Array.from({ length: count }, () => String(++numbers)) });
}
