import { createHash } from 'node:crypto';
import { FakeClock } from '../../../../src/testing/fake-clock.js';
import { WhatsappCloudMsgappTransport } from '../../../../src/transports/whatsapp-cloud/cloud-msgapp-transport.js';
import type { MsgappTransportHarness } from '../../../contract/msgapp/msgapp-contract.js';
import { CLOUD_NUMBER, type GraphCall, GraphDouble, NOT_ON_APP } from './graph-double.js';

/** The options of the app at Meta that the double plays. */
export const CLOUD_APP = { appSecret: 'secret-of-the-app-at-meta', verifyToken: 'token-of-the-webhook' };

/** The credentials of the double's number, as an account gives them. */
export const CLOUD_GIVEN = {
  phone_number_id: CLOUD_NUMBER.phoneNumberId,
  access_token: CLOUD_NUMBER.accessToken,
};

const NUMBERS = new Map([
  ['taken', '22670000002'],
  ['refused', NOT_ON_APP],
]);

/** Opens a transport of the Cloud API and the double of Meta. */
export async function openCloud(): Promise<MsgappTransportHarness> {
  const graph = await GraphDouble.open();
  const transport = new WhatsappCloudMsgappTransport({ ...CLOUD_APP, baseUrl: graph.baseUrl }, new FakeClock());
  return {
    transport,
    phone: '22670000001',
    credentials: CLOUD_GIVEN,
    scan: async () => undefined,
    number: (outcome) => NUMBERS.get(outcome),
    received: (number) =>
      Promise.all(
        graph.messages.flatMap((call) =>
          number !== NOT_ON_APP && call.json?.to === number ? [shown(graph, call)] : [],
        ),
      ),
    close: () => graph.close(),
  };
}

async function shown(graph: GraphDouble, { json }: GraphCall) {
  const { text, document, audio } = Object(json);
  if (text) return { text: String(text.body) };
  const { id, caption = '' } = document ?? audio;
  const file = graph.fileOf(id);
  return {
    text: String(caption),
    sha256: createHash('sha256')
      .update(new Uint8Array(await file.arrayBuffer()))
      .digest('hex'),
  };
}
