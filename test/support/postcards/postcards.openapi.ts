import { describeController, fieldsOf } from '../../../src/openapi/controller-description.js';
import { count, EXAMPLE, identifier, list, object, text } from '../../../src/schemas/builders.js';
import { PostcardController, PostcardSettings, SendPostcardBody } from './postcards.js';

/** The description of postcards in the document. */
export const postcardsOpenapi = describeController(PostcardController, ({ get }) => ({
  tag: { name: 'Postcards', description: `A card costs ${get(PostcardSettings).price} units.` },
  schemas: {
    PostcardReceipt: object('A card that was accepted.', {
      cardID: identifier('The card.', EXAMPLE.message),
      units: count('What it cost.', { example: 5 }),
    }),
    Postcards: object('Cards that were printed.', { items: list(text('A card.', { example: 'Bonjour' })) }),
  },
  routes: {
    send: {
      operationId: 'sendPostcard',
      summary: 'Send a postcard',
      body: {
        name: 'SendPostcard',
        description: 'A card to print.',
        ...fieldsOf(SendPostcardBody, { number: 'The recipient.', content: 'What is on it.' }),
        examples: { card: { number: EXAMPLE.number, content: 'Bonjour' } },
      },
      idempotent: true,
      answer: { schema: 'PostcardReceipt' },
      errors: ['error.insufficient_balance', 'error.account_not_found'],
    },
    list: {
      operationId: 'listPostcards',
      summary: 'Cards that were printed',
      answer: { schema: 'Postcards' },
      errors: ['error.account_not_found'],
    },
  },
}));
