import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { PAGE } from '../../openapi/listings.js';
import { PageQuery } from '../list-query.js';
import { NOT_ADMITTED } from '../schemas.js';
import { NAME, SignaturePage, SignatureRemoved, SignatureView } from './signature.api.js';
import { SignaturesController } from './signatures.controller.js';
import { RegisterSignatureBody } from './signatures.dto.js';

/** OpenAPI description of an account's sender names (docs/management-api.md). */
export const signaturesOpenapi = describeController(SignaturesController, () => ({
  tag: {
    name: 'Signatures',
    description: 'The sender names of an account: ask for a name, and see the decision on it.',
  },
  parameters: { name: { description: 'The name.', example: 'MA BOUTIQUE' } },
  schemas: { Signature: SignatureView, SignaturePage, SignatureRemoved },
  errors: NOT_ADMITTED,
  routes: {
    list: {
      operationId: 'listSignatures',
      summary: 'List sender names',
      description: 'The default names come first, then those of the account by name.',
      query: fieldsOf(PageQuery, PAGE),
      answer: { schema: 'SignaturePage' },
      errors: ['error.invalid_cursor', 'error.account_not_found'],
    },
    register: {
      operationId: 'registerSignature',
      summary: 'Ask for a sender name',
      description:
        'The name is pending until the operator has decided. If the account has asked for the name before, the answer shows its current state.',
      body: {
        name: 'RegisterSignature',
        description: 'The name.',
        ...fieldsOf(RegisterSignatureBody, { name: NAME }),
        examples: { 'A shop': { name: 'MA BOUTIQUE' } },
      },
      idempotent: true,
      answer: { schema: 'Signature' },
      errors: ['error.signature_format', 'error.account_not_found'],
    },
    remove: {
      operationId: 'removeSignature',
      summary: 'Withdraw a request for a sender name',
      description: 'This works only while the name is pending.',
      answer: { schema: 'SignatureRemoved' },
      errors: ['error.signature_not_found', 'error.signature_decided'],
    },
  },
}));
