import { count, flag, integer, list, moment, nullable, object, text } from '../../schemas/builders.js';
import { type TypeOf } from '../../schemas/schema.js';

/** The inboxes of the sandbox. */
export const HooksView = object('The inboxes of the sandbox.', {
  url: nullable(
    text('The URL at which webhooks can be called; a name follows it. Null if they cannot be called.', {
      example: 'http://127.0.0.1:3000/sandbox/hooks/',
    }),
  ),
  names: list(text('A name.', { example: 'shop' }), {
    maxItems: 50,
    description: 'The names that have calls, most recently called first.',
  }),
});
export interface HooksView extends TypeOf<typeof HooksView> {}

/** A call that an inbox has received. */
export const HookCallView = object('A call that an inbox has received.', {
  number: count('Counts the calls of this process.', { minimum: 1 }),
  receivedAt: moment('When it came.'),
  webhookID: text('The header `webhook-id`.', { example: 'evt_C2FVsBQIhrscChlQIMVb5g' }),
  verified: nullable(
    flag('Whether the signature is valid. Null: there is no endpoint with this URL.', { example: true }),
  ),
  events: list(
    object('An event.', {
      type: text('Its type.', { example: 'message.delivered' }),
      sequence: nullable(integer('Its sequence.', { example: 4711 })),
    }),
    { maxItems: 100, description: 'Its events, as far as the body shows them.' },
  ),
  body: text('The body as it came.', { example: '{}' }),
});
export interface HookCallView extends TypeOf<typeof HookCallView> {}
