import { getBinaryNodeChildren } from 'baileys';
import type { Directory } from './directory.js';
import type { Faults } from './faults.js';
import type { LinkedDevice } from './linked-device.js';
import { Phone } from './phone.js';
import { attr, bytesOf, child, type Stanza, seconds, stanza } from './stanza.js';

/** Takes a message, acknowledges it, delivers it to the phones of its recipient, and returns their receipts. */
export async function relay(node: Stanza, from: LinkedDevice, directory: Directory, faults: Faults): Promise<void> {
  const [id, to] = [attr(node, 'id'), attr(node, 'to')];
  const refused = faults.ackError !== undefined;
  if (!refused) await deliver(node, id, from, directory);
  if (!faults.dropAck) {
    const error = refused ? { error: String(faults.ackError) } : {};
    from.connection?.send(stanza('ack', { id, class: 'message', from: to, t: seconds(), ...error }));
  }
  const reached = directory.find(to) instanceof Phone;
  if (faults.receipts && !refused && reached) {
    from.connection?.send(stanza('receipt', { id, from: to, t: seconds() }));
  }
}

/** Each recipient's device has its own ciphertext. */
async function deliver(node: Stanza, id: string, from: LinkedDevice, directory: Directory): Promise<void> {
  const list = getBinaryNodeChildren(node, 'participants')[0];
  for (const to of getBinaryNodeChildren(list, 'to')) {
    const phone = directory.find(attr(to, 'jid'));
    if (!(phone instanceof Phone)) continue;
    const sealed = child(to, 'enc');
    const type = attr(sealed, 'type') === 'pkmsg' ? 'pkmsg' : 'msg';
    await phone.receive(from, id, { type, ciphertext: bytesOf(sealed) });
  }
}
