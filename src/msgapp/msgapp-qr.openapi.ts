import { describeController } from '../openapi/controller-description.js';
import { EXAMPLE_MOMENT } from '../openapi/examples.js';
import type { Headers, Parameter } from '../openapi/openapi-document.js';
import { MsgappQrController } from './msgapp-qr.controller.js';
import { MSGAPP_TAG } from './msgapp-tag.openapi.js';

const TOKEN: Parameter = {
  name: 'qrToken',
  in: 'path',
  required: true,
  description: 'The `qrToken` of the connect. It is all that is asked for: a key is not looked at.',
  schema: { type: 'string' },
  example: 'Qm9ucyBiYWlzZXJzIGRlIE91YWdhISEh',
};

const CODE = { qr: '2@4bF…', image: 'data:image/png;base64,iVBORw0KGgo…', expires_at: EXAMPLE_MOMENT };
const CONNECTED = { sessionID: '019d0f4e-9b10-7a52-b1c7-3d2e5f607182', status: 'connected', number: '22670000100' };

const EVENTS = [
  'Event `qr`, each time the code changes: `{ qr, image, expires_at }`, `image` a PNG as `data:` URL.',
  'Event `status`: `{ sessionID, status, number?, reason? }`. The stream ends after `connected` or a final status.',
].join('\n\n');

const NOT_STORED: Headers = {
  'Cache-Control': {
    description: 'Whoever has the code has the number: it is kept by nobody on its way.',
    required: true,
    schema: { type: 'string', enum: ['no-store'] },
  },
};

/** OpenAPI description of the code routes of a messaging-app channel (contract.md section 6). */
export const msgappQrOpenapi = describeController(MsgappQrController, () => ({
  tag: MSGAPP_TAG,
  schemas: {},
  routes: {
    events: {
      operationId: 'watchMsgappCode',
      summary: 'Follow the code to scan',
      description: EVENTS,
      parameters: [TOKEN],
      answer: {
        description: 'Server-sent events, with a comment every 15 seconds.',
        content: {
          'text/event-stream': {
            schema: { type: 'string' },
            examples: {
              code: { summary: 'A code', value: `event: qr\nid: 1\ndata: ${JSON.stringify(CODE)}\n\n` },
              linked: {
                summary: 'It was scanned',
                value: `event: status\nid: 2\ndata: ${JSON.stringify(CONNECTED)}\n\n`,
              },
            },
          },
        },
      },
      errors: [{ code: 'error.qr_not_found' }],
    },
    image: {
      operationId: 'getMsgappCodeImage',
      summary: 'See the code to scan as a picture',
      description: 'Waits up to 10 seconds for the first code.',
      parameters: [TOKEN],
      answer: {
        description: 'The code that can be scanned now.',
        headers: NOT_STORED,
        content: { 'image/png': { schema: { type: 'string', format: 'binary' } } },
      },
      errors: [{ code: 'error.qr_not_found' }],
    },
  },
}));
