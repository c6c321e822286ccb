import { binary, events, json } from '../openapi/contents.js';
import { describeController, fieldsOf } from '../openapi/controller-description.js';
import { invalid, STORAGE_UNAVAILABLE } from '../openapi/errors.js';
import { EXAMPLE, flag, list, oneOf, phoneNumber, ref, text } from '../schemas/builders.js';
import { exampleOf, withExamples } from '../schemas/examples.js';
import { CodeView, LinkView, PhoneMessageView, QR, ScreenMessageView } from './sandbox.api.js';
import { SandboxController } from './sandbox.controller.js';
import { SERVED_TYPES } from './sandbox-files.js';
import { SANDBOX_MEDIA_NAMES } from './sandbox-media.js';
import { ReplyBody, SandboxScanController, ScanBody } from './sandbox-scan.controller.js';

const TAG = {
  name: 'Sandbox',
  description: [
    'The messages that the phones of the sandbox received. There is no authentication: these routes are for development only.',
    'The last six digits of a number decide what happens: `990001` is refused for good and refunded. `990002` has two temporary errors and is then delivered. `990003` is accepted and never reported, so it becomes `unknown`. `990004` is accepted, then undelivered. All other numbers are delivered at once.',
  ].join('\n\n'),
};

const PHONE = { description: 'The number of the phone.', schema: phoneNumber('A phone.') };

/** OpenAPI description of the sandbox routes. */
export const sandboxOpenapi = describeController(SandboxController, ({ accounts }) => {
  const signature = accounts.signatures[0];
  const schemas = {
    SandboxCode: CodeView,
    PhoneMessage: withExamples(PhoneMessageView, { from: signature }),
    ScreenMessage: withExamples(ScreenMessageView, { from: signature, fromText: signature }),
    SandboxLink: LinkView,
  };
  const message = exampleOf(schemas, 'PhoneMessage');
  const screen = exampleOf(schemas, 'ScreenMessage');
  return {
    tag: TAG,
    parameters: {
      number: PHONE,
      messageID: { description: 'The message.', example: EXAMPLE.message },
      name: { description: 'The file.', schema: { type: 'string', enum: SANDBOX_MEDIA_NAMES } },
    },
    errors: ['error.sandbox_host_refused'],
    schemas,
    routes: {
      messages: {
        operationId: 'getSandboxMessages',
        summary: 'List the messages of one phone, oldest first',
        answer: {
          description: 'One entry for each message, with its whole text.',
          content: json(list(ref({ PhoneMessage: PhoneMessageView })), { 'One SMS': [message], none: [] }),
        },
        errors: ['error.invalid_number', STORAGE_UNAVAILABLE],
      },
      latest: {
        operationId: 'getSandboxPhones',
        summary: 'List the newest messages over all phones, newest first',
        answer: {
          description: 'At most 500 messages, those that did not arrive among them.',
          content: json(list(ref({ ScreenMessage: ScreenMessageView }), { maxItems: 500 }), { 'One SMS': [screen] }),
        },
        errors: [STORAGE_UNAVAILABLE],
      },
      screen: {
        operationId: 'getSandboxScreen',
        summary: 'List the newest messages that were sent to one phone, newest first',
        answer: {
          description: 'At most 500 messages, those that did not arrive among them.',
          content: json(list(ref({ ScreenMessage: ScreenMessageView }), { maxItems: 500 }), {
            'One SMS': [screen],
            none: [],
          }),
        },
        errors: ['error.invalid_number', STORAGE_UNAVAILABLE],
      },
      file: {
        operationId: 'getSandboxReceivedFile',
        summary: 'Fetch the file of a message that a phone received',
        description:
          'Pictures, sound and video have their media type. Every other file is an attachment. Files are kept for seven days. A `Range` is answered with 206.',
        answer: { description: 'The file.', content: binary(...SERVED_TYPES) },
        errors: ['error.invalid_number', 'error.file_not_found', STORAGE_UNAVAILABLE],
      },
      clear: {
        operationId: 'clearSandboxPhones',
        summary: 'Remove all messages of all phones',
        description:
          'This removes the messages that the phones show, with their files. The accounts and their messages stay as they are.',
        answer: { description: 'The phones are empty.' },
        errors: ['error.sandbox_cross_site', STORAGE_UNAVAILABLE],
      },
      links: {
        operationId: 'getSandboxLinks',
        summary: 'List the numbers that are linked in this process',
        answer: {
          description: 'The numbers whose sessions are connected now.',
          content: json(list(ref({ SandboxLink: LinkView })), { one: [exampleOf(schemas, 'SandboxLink')], none: [] }),
        },
      },
      media: {
        operationId: 'getSandboxFile',
        summary: 'Fetch a small file to send',
        answer: {
          description: 'The file.',
          content: binary('image/jpeg', 'video/mp4', 'application/pdf', 'audio/ogg'),
        },
        errors: ['error.file_not_found'],
      },
      codes: {
        operationId: 'getSandboxCodes',
        summary: 'List the codes that can be scanned in this process',
        answer: {
          description: 'The codes that sessions show now.',
          content: json(list(ref({ SandboxCode: CodeView })), { one: [exampleOf(schemas, 'SandboxCode')], none: [] }),
        },
      },
      events: {
        operationId: 'watchSandboxPhones',
        summary: 'Follow the messages that the phones receive',
        description:
          'A stream that stays open. It sends one event for each message from now on, with a `ScreenMessage` as its data. It sends an event `codes` when the codes to scan or the linked numbers change, an event `changed` when a message did not arrive or all messages were removed, and an event `hooks` when webhooks have been called.',
        answer: {
          description: 'Server-sent events, with a comment every 15 seconds.',
          content: events({ 'One SMS': { data: screen } }),
        },
      },
      show: {
        operationId: 'showSandbox',
        summary: 'Open the screens of the phones in a browser',
        answer: {
          description: 'A page that shows the phones live.',
          content: { 'text/html': { schema: { type: 'string' } } },
        },
      },
    },
  };
});

/** OpenAPI description of the scan route. */
export const sandboxScanOpenapi = describeController(SandboxScanController, () => ({
  tag: TAG,
  parameters: { number: { ...PHONE, example: EXAMPLE.number } },
  errors: ['error.sandbox_host_refused'],
  routes: {
    scan: {
      operationId: 'scanWithSandboxPhone',
      summary: 'Scan a code with a sandbox phone',
      description: 'This links the number to the session that shows the code, as a scan with a real phone would.',
      body: {
        name: 'Scan',
        description: 'The code that the phone’s camera sees.',
        ...fieldsOf(ScanBody, { qr: 'The string of the `qr` event.' }),
        examples: { code: { qr: QR } },
      },
      answer: { description: 'The number is linked.' },
      errors: ['error.invalid_number', 'error.qr_not_found', STORAGE_UNAVAILABLE],
    },
    reply: {
      operationId: 'writeWithSandboxPhone',
      summary: 'Write with a sandbox phone',
      description:
        'The message is processed like one of a real phone: it becomes `sms.received` or `msgapp.received`, and STOP opts the phone out.',
      body: {
        name: 'PhoneReply',
        description:
          'The message that the phone writes. `media`, `replyTo`, `reaction` and `hidden` are for messaging apps.',
        ...fieldsOf(ReplyBody, {
          to: text('A signature or a number for SMS, or a linked number for a messaging app.', { example: 'INFOS' }),
          channel: text('`sms` (default), or the name of a messaging-app channel.', { example: 'sms' }),
          text: text('The text, or the caption of the file.', { example: 'STOP' }),
          media: oneOf(SANDBOX_MEDIA_NAMES, 'A file of the sandbox to send.'),
          replyTo: text('The `messageID` of the message that it answers.', { example: EXAMPLE.message }),
          hidden: flag('Whether the app hides the number of the phone. Default: false.', { example: true }),
          reaction: text('The character of a reaction to `replyTo`. Empty to take it back.', { example: '👍' }),
        }),
        examples: { stop: { to: 'INFOS', text: 'STOP' } },
      },
      answer: { description: 'The message is stored.' },
      errors: [
        ...(['error.invalid_number', 'error.empty_message', 'error.callback_not_found'] as const),
        ...(['error.msgapp_not_connected', 'error.file_not_found'] as const),
        ...invalid('hidden'),
        STORAGE_UNAVAILABLE,
      ],
    },
  },
}));
