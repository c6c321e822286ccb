import { S_WHATSAPP_NET } from 'baileys';
import type { Directory } from './directory.js';
import type { Faults } from './faults.js';
import type { Client } from './noise-responder.js';
import { seconds, stanza } from './stanza.js';
import type { WireConnection } from './wire-connection.js';

/** Admits a linked device, or refuses it. A client that was connected with the same credentials is disconnected. */
export function logIn(connection: WireConnection, client: Client, directory: Directory, faults: Faults): void {
  const { username, device: id } = client.payload;
  const device = directory.device(String(username), id ?? 0);
  const known = device?.registration.noiseKey.equals(client.noiseKey) ?? false;
  if (!device || !known || faults.loginFailure !== undefined) {
    connection.refuse(known ? (faults.loginFailure ?? 401) : 401);
    return;
  }
  device.connection?.endStream(undefined, stanza('conflict', { type: 'replaced' }));
  device.connection = connection;
  connection.device = device;
  connection.send(stanza('success', { t: seconds(), lid: device.lid, props: '27' }));
  // The client shows this at its next connection.
  const routing = stanza('routing_info', {}, Buffer.from('0802080c', 'hex'));
  connection.send(stanza('ib', { from: S_WHATSAPP_NET }, [stanza('edge_routing', {}, [routing])]));
}
