import { describeController, type RouteError } from '../openapi/controller-description.js';
import { EXAMPLE_MOMENT, EXAMPLE_NUMBER } from '../openapi/examples.js';
import { STORAGE_UNAVAILABLE } from '../openapi/gate-errors.js';
import type { Headers, Schema } from '../openapi/openapi-document.js';
import { answerObject, count, identifier, json, moment, phoneNumber, ref } from '../openapi/schemas.js';
import { SandboxController } from './sandbox.controller.js';
import { SANDBOX_MEDIA_NAMES } from './sandbox-media.js';
import { pagePolicy } from './sandbox-page.js';

/** Error of every sandbox route. */
export const HOST_REFUSED: RouteError = { code: 'error.sandbox_host_refused' };

/** OpenAPI description of the sandbox routes (contract.md section 8). */
export const sandboxOpenapi = describeController(SandboxController, ({ accounts }) => {
  const message = {
    messageID: '019d0f51-0d80-7b62-8c0e-5a7f3b1d9e24',
    channel: 'sms',
    from: accounts.signatures[0],
    to: EXAMPLE_NUMBER,
    text: 'Votre colis est arrivé.',
    media: null,
    receivedAt: EXAMPLE_MOMENT,
  };
  const messages: Schema = { type: 'array', items: ref('PhoneMessage') };
  return {
    tag: { name: 'Sandbox', description: ABOUT },
    schemas: SCHEMAS,
    routes: {
      messages: {
        operationId: 'getSandboxMessages',
        summary: 'See what one phone received, oldest first',
        parameters: [
          {
            name: 'number',
            in: 'path',
            required: true,
            description: 'The phone’s number.',
            schema: phoneNumber('The phone’s number.'),
          },
        ],
        answer: {
          description: 'One entry a message, with its whole text; none for a phone that got nothing.',
          headers: { ...NOT_STORED, ...NOT_SNIFFED },
          content: json(messages, { one: { summary: 'One SMS', value: [message] }, none: { value: [] } }),
        },
        errors: [
          { code: 'error.invalid_number', values: { number: '+22670000000' } },
          HOST_REFUSED,
          STORAGE_UNAVAILABLE,
        ],
      },
      latest: {
        operationId: 'getSandboxPhones',
        summary: 'See the newest messages over all phones, newest first',
        answer: {
          description: 'At most 500 messages.',
          headers: { ...NOT_STORED, ...NOT_SNIFFED },
          content: json({ ...messages, maxItems: 500 }, { one: { summary: 'One SMS', value: [message] } }),
        },
        errors: [HOST_REFUSED, STORAGE_UNAVAILABLE],
      },
      media: {
        operationId: 'getSandboxFile',
        summary: 'Fetch a small file to send',
        parameters: [
          {
            name: 'name',
            in: 'path',
            required: true,
            description: 'Which file.',
            schema: { type: 'string', enum: SANDBOX_MEDIA_NAMES },
          },
        ],
        answer: {
          description: 'The file.',
          headers: NOT_SNIFFED,
          content: Object.fromEntries(
            FILE_TYPES.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]),
          ),
        },
        errors: [HOST_REFUSED, { code: 'error.file_not_found' }],
      },
      codes: {
        operationId: 'getSandboxCodes',
        summary: 'See the codes that wait to be scanned in this process',
        answer: {
          description: 'The codes that sessions show at this moment.',
          headers: { ...NOT_STORED, ...NOT_SNIFFED },
          content: json({ type: 'array', items: ref('SandboxCode') }, { one: { value: [CODE] }, none: { value: [] } }),
        },
        errors: [HOST_REFUSED],
      },
      events: {
        operationId: 'watchSandboxPhones',
        summary: 'Follow what the phones receive',
        description:
          'A stream that stays open: one event for every message from now on, its data a `PhoneMessage`; an event `codes` when there are other codes to scan.',
        answer: {
          description: 'Server-sent events, with a comment every 15 seconds.',
          headers: NOT_SNIFFED,
          content: {
            'text/event-stream': {
              schema: { type: 'string' },
              examples: { message: { summary: 'One SMS', value: `id: 1\ndata: ${JSON.stringify(message)}\n\n` } },
            },
          },
        },
        errors: [HOST_REFUSED],
      },
      show: {
        operationId: 'showSandbox',
        summary: 'Open the phones’ screens in a browser',
        answer: {
          description: 'A page that shows the phones live.',
          headers: {
            ...NOT_STORED,
            ...NOT_SNIFFED,
            ...always('Content-Security-Policy', 'Nothing but the page’s own style and script.', pagePolicy()),
            ...always('Referrer-Policy', 'The page’s address is told to nobody.', 'no-referrer'),
          },
          content: { 'text/html': { schema: { type: 'string' } } },
        },
        errors: [HOST_REFUSED],
      },
    },
  };
});

const FILE_TYPES = ['image/jpeg', 'video/mp4', 'application/pdf', 'audio/ogg'];

const CODE = {
  qr: 'sandbox:msgapp:Qm9ucyBiYWlzZXJz',
  image: 'data:image/png;base64,iVBORw0KGgo=',
  channel: 'msgapp',
  sessionID: '019d0f4e-9b10-7a52-b1c7-3d2e5f607182',
};

const ABOUT = [
  'What the phones of the sandbox received. No API key is asked for: these routes are for development only.',
  'Numbers by their last six digits: `990001` is refused for good and refunded; `990002` meets two temporary errors, then is delivered; `990003` is accepted and never reported, so it becomes `unknown`; `990004` is accepted, then undelivered. Any other is delivered at once.',
].join('\n\n');

const SCHEMAS: Readonly<Record<string, Schema>> = {
  SandboxCode: answerObject('A code to scan.', {
    qr: { type: 'string', minLength: 1, description: 'What a camera would read.' },
    image: { type: 'string', pattern: '^data:image/png;base64,', description: 'The same as a picture.' },
    channel: { type: 'string', minLength: 1, description: 'The channel of the session.' },
    sessionID: identifier('The session that shows it.'),
  }),
  PhoneMessage: answerObject('A message as its phone shows it.', {
    messageID: identifier('The `smsID` or `messageID` of the send.'),
    channel: { type: 'string', minLength: 1, description: '`sms`, or the name of a messaging-app channel.' },
    from: { type: 'string', description: 'The signature or the number it came from.' },
    to: phoneNumber('The phone.'),
    text: { type: 'string', description: 'The whole text.' },
    media: { ...mediaSchema(), nullable: true },
    receivedAt: moment('When the phone received it.'),
  }),
};

function mediaSchema(): Schema {
  return answerObject('The file that came with it; null when there is none.', {
    type: { type: 'string', enum: ['image', 'video', 'document', 'audio'], description: 'What kind of file it is.' },
    mimetype: { type: 'string', description: 'Its media type, for instance `image/jpeg`.' },
    size: count('Its size in bytes.'),
    sha256: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the file, hexadecimal.' },
    caption: { type: 'string', nullable: true, description: 'The words under it; null when there are none.' },
  });
}

function always(name: string, description: string, value: string): Headers {
  return { [name]: { description, required: true, schema: { type: 'string', enum: [value] } } };
}

const NOT_STORED = always('Cache-Control', 'A message may hold a code: it is kept by nobody on its way.', 'no-store');
const NOT_SNIFFED = always('X-Content-Type-Options', 'The content type is meant as it stands.', 'nosniff');
